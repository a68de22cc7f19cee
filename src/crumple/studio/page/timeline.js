// Play, pause, scrub. The first visible recording leads; the others show what they have at its time.

const at = (id) => document.getElementById(id);

export class Timeline {
  /** `onPlace(place)` is called when another frame of the leading recording is wanted, `onEnd()` after playing once. */
  constructor(onPlace, onEnd = () => {}) {
    Object.assign(this, { onPlace, onEnd });
    this.isShown = () => true; // whether the frame that is wanted has been drawn
    this.isOnce = false;
    this.lead = null;
    this.place = 0;
    this.playing = false;
    this.following = false; // whether new frames are shown as they come
    at("play").onclick = () => this.toggle();
    at("first").onclick = () => this.jump(0);
    at("last").onclick = () => this.jump(this.count - 1);
    at("scrub").oninput = () => this.jump(Number(at("scrub").value));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get count() {
    return this.lead ? this.lead.frames.length : 0;
  }

  get time() {
    return this.count ? this.lead.times[this.place] : 0;
  }

  /** The leading recording, or its frames, changed. */
  update(lead) {
    const other = lead !== this.lead;
    this.lead = lead;
    if (this.following || other) this.place = this.following ? this.count - 1 : Math.min(this.place, this.count - 1);
    this.go(this.place);
  }

  /** Go where the user wants; at the end, stay with the newest frame. */
  jump(place) {
    this.following = place >= this.count - 1;
    this.clock = null;
    this.go(place);
  }

  go(place) {
    this.place = Math.max(Math.min(place, this.count - 1), 0);
    const scrub = at("scrub");
    scrub.max = Math.max(this.count - 1, 0);
    scrub.value = this.place;
    const frame = this.count ? this.lead.frames[this.place] : 0;
    at("clock").textContent = this.count ? `frame ${frame} of ${this.lead.frames.at(-1)} · ${this.time.toFixed(3)} s` : "no frame yet";
    if (this.count) this.onPlace(this.place);
  }

  toggle() {
    this.playing = !this.playing;
    at("play").classList.toggle("playing", this.playing);
    this.clock = null;
    if (this.playing) {
      this.following = false;
      if (this.place >= this.count - 1) this.go(0);
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  /** Play from the first frame to the last, of which `onEnd` is told. No frame is left out: where the machine cannot keep
   * up, it is slower. */
  playOnce() {
    if (this.playing) this.toggle();
    this.isOnce = true;
    this.go(0);
    this.toggle();
  }

  endOnce() {
    this.isOnce = false;
    if (this.playing) this.toggle();
  }

  /** Show what is due by the clock, without catching up frame by frame. */
  tick(now) {
    if (!this.playing) return;
    const speed = Number(at("speed").value);
    if (this.isOnce && !this.isShown()) this.clock = null;
    if (!this.clock || this.clock.speed !== speed) this.clock = { now, time: this.time, speed };
    const time = this.clock.time + (speed * (now - this.clock.now)) / 1000, end = this.lead?.times.at(-1) ?? 0;
    if (this.count && time > end + 0.5 * speed) {
      this.clock = null;
      if (this.isOnce) this.onEnd();
      else if (at("loop").checked) this.go(0);
      else this.toggle();
    } else if (this.count) {
      const due = this.lead.placeAt(time), place = this.isOnce ? Math.min(due, this.place + 1) : due;
      if (place !== this.place) this.go(place);
      if (place < due) this.clock = { now, time: this.time, speed };
    }
    requestAnimationFrame((later) => this.tick(later));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.target.tagName === "INPUT" && !/^(range|checkbox)$/.test(event.target.type)) return;
    if (event.key === " " && event.target.matches("button, summary, input[type=checkbox]")) return; // it works the control
    if (event.key !== " " && event.target.matches("input[type=range]:not(#scrub)")) return;
    const moves = { ArrowLeft: this.place - 1, ArrowRight: this.place + 1, Home: 0, End: this.count - 1 };
    if (event.key === " ") this.toggle();
    else if (event.key in moves) this.jump(moves[event.key]);
    else return;
    event.preventDefault();
  }
}
