// Keeps what belongs to a sequence of objects for as long as these live: nothing is made again when they come again.

/** A value per sequence of GPU objects. */
export class PerObjects<T> {
  readonly #next = new WeakMap<object, PerObjects<T>>();
  #value: T | undefined;

  /** The value of a sequence; made where it is new. */
  get([first, ...rest]: readonly object[], make: () => T): T {
    if (first === undefined) return (this.#value ??= make());
    const known = this.#next.get(first);
    const next = known ?? new PerObjects<T>();
    if (known === undefined) this.#next.set(first, next);
    return next.get(rest, make);
  }
}
