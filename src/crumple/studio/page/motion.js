// The sheet between the last two frames: it is drawn one frame late, and never jumps.

const SHORTEST = 8, USUAL = 16, LONGEST = 100; // ms between frames that are believed
const PAUSE = 400; // ms after which the sheet lay still, and what comes is seen at once

export class Motion {
  constructor() {
    this.clear();
  }

  clear() {
    this.older = this.newer = null;
    this.span = USUAL;
    this.arrived = -1e9;
    this.isStill = false;
  }

  /** A frame has come. */
  add(x, now) {
    const gap = now - this.arrived;
    this.span = gap > PAUSE ? USUAL : Math.min(Math.max(gap, SHORTEST), LONGEST);
    this.older = this.newer ? this.at(now) : x.slice();
    this.newer = x.slice();
    this.arrived = now;
    this.isStill = false;
  }

  /** Where the sheet is to be drawn at a time [ms], or null when it is drawn there already. */
  next(now) {
    if (!this.newer || this.isStill) return null;
    this.isStill = now >= this.arrived + this.span;
    return this.at(now);
  }

  at(now) {
    const { older, newer } = this, t = (now - this.arrived) / this.span;
    if (t >= 1 || older.length !== newer.length) return newer;
    const x = new Float32Array(newer.length);
    for (let k = 0; k < x.length; k++) x[k] = older[k] + Math.max(t, 0) * (newer[k] - older[k]);
    return x;
  }
}
