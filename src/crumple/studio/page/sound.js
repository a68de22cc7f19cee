// Paper is heard: every crease, snap and tear is a short burst of noise, louder with its energy.

const QUIET = 1e-7, LOUD = 1e-4; // J
const MOST = 24; // clicks at a time

export class Sound {
  constructor() {
    this.context = null;
    this.isOn = true;
    this.playing = 0;
  }

  /** Browsers allow sound only after a gesture. */
  wake() {
    if (this.context || !window.AudioContext) return;
    this.context = new AudioContext();
    const length = this.context.sampleRate * 0.08;
    this.noise = this.context.createBuffer(1, length, this.context.sampleRate);
    const samples = this.noise.getChannelData(0);
    for (let i = 0; i < length; i++) samples[i] = (2 * Math.random() - 1) * Math.exp((-9 * i) / length);
  }

  /** A click for an event. */
  play({ kind, energy }) {
    if (!this.context || !this.isOn || this.playing >= MOST || !(energy > 0)) return;
    const loudness = Math.min(Math.max(Math.log(energy / QUIET) / Math.log(LOUD / QUIET), 0.05), 1);
    const source = this.context.createBufferSource(), filter = this.context.createBiquadFilter(), gain = this.context.createGain();
    source.buffer = this.noise;
    source.playbackRate.value = 0.7 + 0.8 * Math.random();
    filter.type = "bandpass";
    filter.frequency.value = { crease: 2800, snap: 1500, tear: 4200, singular: 3300, bend: 1100 }[kind] * (0.8 + 0.4 * Math.random());
    filter.Q.value = kind === "snap" ? 1.5 : 0.8;
    gain.gain.value = 0.5 * loudness;
    source.connect(filter).connect(gain).connect(this.context.destination);
    this.playing++;
    source.onended = () => this.playing--;
    source.start();
  }
}
