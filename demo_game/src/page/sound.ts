// What one hears, made from oscillators and noise: the engine, beacons, hits. Starts with the first key, as browsers ask.

export class Sound {
  #context: AudioContext | undefined;
  #volume: GainNode | undefined;
  #engine: OscillatorNode | undefined;
  #wind: GainNode | undefined;
  #muted: boolean;

  constructor(muted: boolean) {
    this.#muted = muted;
  }

  /** Call in an event of the player. */
  start(): void {
    if (this.#context !== undefined) {
      void this.#context.resume();
      return;
    }
    const context = new AudioContext();
    const volume = new GainNode(context, { gain: this.#muted ? 0 : 0.5 });
    volume.connect(context.destination);
    const engine = new OscillatorNode(context, { type: "sawtooth", frequency: 52 });
    const dull = new BiquadFilterNode(context, { type: "lowpass", frequency: 240 });
    engine
      .connect(dull)
      .connect(new GainNode(context, { gain: 0.12 }))
      .connect(volume);
    engine.start();
    const noise = new AudioBuffer({ length: context.sampleRate, sampleRate: context.sampleRate });
    const samples = noise.getChannelData(0);
    for (let k = 0; k < samples.length; k++) samples[k] = Math.random() * 2 - 1;
    const source = new AudioBufferSourceNode(context, { buffer: noise, loop: true });
    const wind = new GainNode(context, { gain: 0 });
    source
      .connect(new BiquadFilterNode(context, { type: "bandpass", frequency: 700, Q: 0.6 }))
      .connect(wind)
      .connect(volume);
    source.start();
    [this.#context, this.#volume, this.#engine, this.#wind] = [context, volume, engine, wind];
  }

  /** Once a frame: speed in metres per second, boost 0 to 1, whether the game runs. */
  update(speed: number, boost: number, running: boolean): void {
    const context = this.#context;
    if (context === undefined) return;
    const now = context.currentTime;
    this.#engine?.frequency.setTargetAtTime(38 + speed * 0.42 + boost * 24, now, 0.15);
    this.#wind?.gain.setTargetAtTime(running ? Math.min(speed / 900, 0.16) : 0, now, 0.2);
    this.#volume?.gain.setTargetAtTime(this.#muted || !running ? 0 : 0.5, now, 0.1);
  }

  /** A rising pair of tones, higher along a chain. */
  collect(chain: number): void {
    const base = 440 * 2 ** ((chain * 2) / 12);
    this.#tone(base, base * 1.5, 0.35, "triangle");
  }

  hit(): void {
    this.#tone(160, 40, 0.5, "square");
  }

  /** Returns whether it is muted now. */
  toggle(): boolean {
    this.#muted = !this.#muted;
    return this.#muted;
  }

  #tone(from: number, to: number, seconds: number, type: OscillatorType): void {
    const [context, volume] = [this.#context, this.#volume];
    if (context === undefined || volume === undefined) return;
    const now = context.currentTime;
    const tone = new OscillatorNode(context, { type, frequency: from });
    tone.frequency.exponentialRampToValueAtTime(to, now + seconds * 0.4);
    const gain = new GainNode(context, { gain: 0.22 });
    gain.gain.exponentialRampToValueAtTime(0.001, now + seconds);
    tone.connect(gain).connect(volume);
    tone.start(now);
    tone.stop(now + seconds);
  }
}
