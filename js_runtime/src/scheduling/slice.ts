// Cuts a run into slices of a predicted time: whole dispatches, and ranges of those that exceed the budget alone. Pure.

/** The dispatches of a run as slicing sees them. */
export interface Work {
  readonly length: number;
  /** Predicted milliseconds of a dispatch. */
  ms(dispatch: number): number;
  /** Equal units in which a dispatch can be divided between slices. 1: it cannot. 0: its divided form is being made. */
  units(dispatch: number): number;
}

/** Where a run stands: `units` of the next dispatch are done. */
export interface Cursor {
  dispatch: number;
  units: number;
}

/** Units `first` to `first + count` of a dispatch; all of them where it is not divided. */
export interface Piece {
  readonly dispatch: number;
  readonly first: number;
  readonly count: number;
  readonly whole: boolean;
}

/** Pieces in order, and their predicted time. */
export interface Cut {
  readonly pieces: readonly Piece[];
  readonly predictedMs: number;
  /** Of the longest undivided dispatch, or unit of a divided one: no slice exceeds its budget by more. */
  readonly longestMs: number;
}

/** A rest of the budget below this share is not worth a piece of a divided dispatch. */
const MIN_REST = 0.25;

/**
 * The next slice of at most `budgetMs`, and at least one piece even where that exceeds it, so that a run always ends.
 * Dispatches beyond `divideAboveMs` are divided. Moves the cursor. Empty at the end, and where the next dispatch has to
 * wait for its divided form.
 */
export function cutSlice(work: Work, cursor: Cursor, budgetMs: number, divideAboveMs: number): Cut {
  const pieces: Piece[] = [];
  let predictedMs = 0;
  let longestMs = 0;
  while (cursor.dispatch < work.length) {
    const { dispatch, units: first } = cursor;
    const ms = work.ms(dispatch);
    const room = budgetMs - predictedMs;
    const units = ms > divideAboveMs || first > 0 ? work.units(dispatch) : 1;
    if (units === 0) break;
    const left = Math.max(0, units - first);
    const unitMs = ms / units;
    let count = left;
    // Written so that a budget that is no number gives one piece, not everything.
    if (!(unitMs * left <= room)) {
      count = units > 1 && (pieces.length === 0 || room > budgetMs * MIN_REST) ? Math.floor(room / unitMs) : 0;
      if (pieces.length === 0) count = Math.max(count, 1);
      if (count === 0) break;
    }
    pieces.push({ dispatch, first, count, whole: first === 0 && count === units });
    predictedMs += unitMs * count;
    longestMs = Math.max(longestMs, unitMs);
    if (count === left) {
      cursor.dispatch += 1;
      cursor.units = 0;
    } else {
      cursor.units = first + count;
      break;
    }
  }
  return { pieces, predictedMs, longestMs };
}

/** Predicted milliseconds of what is left. */
export function remainingMs(work: Work, cursor: Cursor): number {
  let sum = 0;
  for (let dispatch = cursor.dispatch; dispatch < work.length; dispatch += 1) sum += work.ms(dispatch);
  if (cursor.units > 0) sum -= (work.ms(cursor.dispatch) * cursor.units) / Math.max(1, work.units(cursor.dispatch));
  return Math.max(0, sum);
}

/** Predicted milliseconds of the smallest slice that can come next. */
export function smallestMs(work: Work, cursor: Cursor, divideAboveMs: number): number {
  if (cursor.dispatch >= work.length) return 0;
  const ms = work.ms(cursor.dispatch);
  return ms > divideAboveMs || cursor.units > 0 ? ms / Math.max(1, work.units(cursor.dispatch)) : ms;
}
