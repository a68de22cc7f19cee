// Puts the studio together: news from the server, frames into displays, the panel and the timeline.

import { Address, fromCamera, readAddress, toCamera } from "./address.js";
import { Channel, Run } from "./data.js";
import { Film, NO_FILM, offer, savePicture } from "./film.js";
import { Measure } from "./measure.js";
import { Colors, forgetWishes, showFace, showSimulations } from "./panel.js";
import { Plots } from "./plots.js";
import { faceAt } from "./surface.js";
import { Taking } from "./taking.js";
import { Timeline } from "./timeline.js";
import { Stage } from "./view.js";

const AHEAD = 3; // frames fetched before they are due
const REFUSED = 8000; // ms that a refusal is shown
const MOST_PANES = 9; // recordings that are shown side by side at first
const WATCHED = [0, 0.25, 0.5, 0.75, 1]; // parts of a recording that the camera sees at first
const MOST_WATCHED = 4; // panes up to which it looks at so many
const MOST_TAGS = 6; // recordings that are listed in the head of the page; more are listed beside it
const TOGGLES = ["wireframe", "obstacles", "pattern", "linked"];
const at = (id) => document.getElementById(id);

class Studio {
  constructor() {
    this.runs = [];
    this.shown = new Set();
    this.selection = null; // { run, u: place in the pattern }
    this.wanted = readAddress(); // what the address asks for, until it is there
    this.address = new Address(() => this.seen());
    this.measure = new Measure((line) => this.sayMeasured(line));
    this.taking = new Taking((command, run) => this.channel.send({ ...command, run }));
    this.stage = new Stage(at("canvas"), at("panes"), (...picked) => this.pick(...picked));
    this.stage.onDisplay = (display) => this.taking.watch(display);
    this.stage.onMoved = () => this.address.touch();
    this.film = new Film(at("canvas"));
    this.timeline = new Timeline(() => this.showAll(), () => this.film.stop());
    this.timeline.isShown = () => this.stage.displays.every((one) => one.trouble || one.frame?.frame === one.run.frames[this.placeOf(one.run)]);
    this.colors = new Colors(() => this.showAll(), () => this.repaint());
    this.plots = new Plots(at("plots"), (frame) => this.goTo(frame));
    this.loading = new Map();
    this.failed = "";
    this.connectControls();
    this.setTheme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.channel = new Channel({
      onNews: (news) => this.hear(news).catch((error) => this.complain(error)),
      onError: (line) => this.refuse(line),
      onState: (connected) => (connected ? this.say("") : this.complain("the studio has ended, or cannot be reached")),
    });
  }

  get visible() {
    return this.runs.filter((run) => this.shown.has(run.id));
  }

  say(line) {
    at("notice").className = "";
    at("notice").textContent = line;
  }

  complain(reason) {
    at("notice").className = "bad";
    at("notice").textContent = at("notice").title = reason.message ?? String(reason);
  }

  /** A wish was refused: sliders show how things are. */
  refuse(line) {
    this.complain(line);
    forgetWishes();
    clearTimeout(this.refused);
    this.refused = setTimeout(() => at("notice").textContent === line && this.say(""), REFUSED);
  }

  connectControls() {
    for (const id of TOGGLES) at(id).onchange = () => this.toggle(id);
    at("shading").onchange = () => this.reshade();
    at("look").onchange = () => this.dress(at("look").value);
    at("file").onchange = () => this.openPicture(at("file").files[0]);
    at("measure").onclick = () => this.press("measure", (isOn) => this.measure.turn(isOn));
    at("take").onclick = () => this.press("take", (isOn) => (this.taking.isOn = isOn));
    at("picture").onclick = () => savePicture(at("canvas"), () => this.stage.drawNow(), "crumple.png");
    at("film").onclick = () => this.toggleFilm();
    at("lead").onchange = () => {
      this.lead = Number(at("lead").value);
      this.refresh();
    };
    at("fit").onclick = () => this.stage.displays.forEach((display) => display.fit());
    at("theme").onclick = () => this.setTheme(this.stage.theme === "dark" ? "light" : "dark");
    document.addEventListener("keydown", (event) => {
      const keys = { w: "wireframe", o: "obstacles", p: "pattern", f: "fit", m: "measure", t: "take", i: "picture", v: "film" };
      if (event.target.matches("input:not([type=range], [type=checkbox]), select") || event.ctrlKey || event.metaKey) return;
      if (keys[event.key]) at(keys[event.key]).click();
    });
  }

  toggle(id) {
    this.stage.look[id] = at(id).checked;
    if (id === "pattern") this.stage.arrange(this.visible);
    else this.stage.refresh();
    this.address.touch();
  }

  reshade() {
    this.stage.look.shading = Number(at("shading").value);
    for (const display of this.stage.displays) display.reshade();
    this.stage.draw();
    this.address.touch();
  }

  /** What sheets look like that are not coloured by a field. */
  dress(name) {
    if (name === "picture" && !this.stage.look.picture) return at("file").click();
    at("look").value = this.stage.look.dress = name;
    this.repaint();
    this.address.touch();
  }

  /** The user's own picture: it is read here and never leaves the browser. */
  async openPicture(file) {
    if (!file) return;
    try {
      this.stage.look.picture = await createImageBitmap(file);
    } catch {
      return this.refuse(`${file.name}: is no picture that this browser can read`);
    }
    this.dress("picture");
  }

  /** Press a button that stays pressed, or release it. */
  press(id, then) {
    const isOn = at(id).getAttribute("aria-pressed") !== "true";
    at(id).setAttribute("aria-pressed", isOn);
    then(isOn);
  }

  sayMeasured(line) {
    at("measured").hidden = !line;
    at("measured").textContent = line;
  }

  /** Film the recording from its first to its last frame, or until it is pressed again. */
  toggleFilm() {
    if (this.film.isRunning) return this.film.stop();
    if (this.film.obstacle) return this.complain(this.film.obstacle);
    this.timeline.playOnce();
    this.film.start((blob, ending) => {
      at("film").setAttribute("aria-pressed", false);
      this.timeline.endOnce();
      if (blob.size) offer(blob, `crumple.${ending}`);
      else this.refuse(NO_FILM);
    });
    at("film").setAttribute("aria-pressed", true);
  }

  /** What is seen, for the address. */
  seen() {
    const { look, displays } = this.stage, { lead } = this.timeline, { colors } = this;
    const isAll = this.runs.length < 2 || this.visible.length === Math.min(this.runs.length, MOST_PANES);
    return {
      runs: isAll ? null : this.visible.map((run) => run.id).join(","),
      frame: lead?.frames.length && !this.timeline.following && !this.timeline.playing ? lead.frames[this.timeline.place] : null,
      field: colors.name,
      range: colors.name && !colors.automatic ? `${colors.range.low},${colors.range.high}` : null,
      look: look.dress === "plain" || look.dress === "picture" ? null : look.dress,
      shading: look.shading === 40 ? null : look.shading,
      show: TOGGLES.filter((id) => look[id]).join(",") === "obstacles,pattern,linked" ? null : TOGGLES.filter((id) => look[id]).join(",") || "none",
      camera: displays[0]?.wasMoved ? fromCamera(displays[0]) : null,
    };
  }

  /** Show what the address asks for; what it names and is not there is left out. */
  obeyAddress() {
    const { wanted } = this, chosen = (wanted.runs ?? "").split(",").filter(Boolean).map(Number).filter((id) => this.runs[id]);
    if (chosen.length) this.shown = new Set(chosen);
    if (wanted.show) {
      for (const id of TOGGLES) this.stage.look[id] = at(id).checked = wanted.show.split(",").includes(id);
    }
    if ([...at("shading").options].some((one) => one.value === wanted.shading)) this.stage.look.shading = Number((at("shading").value = wanted.shading));
    if ([...at("look").options].some((one) => one.value === wanted.look)) this.stage.look.dress = at("look").value = wanted.look;
    const range = (wanted.range ?? "").split(",").map(Number);
    this.colors.want(wanted.field ?? "", range.length === 2 && range.every(Number.isFinite) ? range : null);
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = this.stage.theme = theme;
    localStorage.setItem("theme", theme);
    this.stage.refresh();
    this.plots.draw();
  }

  /** Take in the status of all runs; what is new is fetched. */
  async hear(news) {
    const fresh = news.slice(this.runs.length).map((_, k) => new Run(this.runs.length + k));
    this.runs.push(...fresh);
    const first = fresh.length && this.runs.length === fresh.length;
    let changed = Boolean(fresh.length);
    for (const [k, { name, generation, count, simulation }] of news.entries()) {
      const run = this.runs[k];
      changed ||= run.count !== count;
      Object.assign(run, { name, simulation, count });
      if (run.generation !== generation && run.generation >= 0) run.forget(generation);
    }
    if (first) this.chooseShown();
    if (fresh.length) this.listRuns();
    changed = (await this.catchUp()) || changed;
    if (changed) this.countFrames();
    showSimulations(this.runs, (command, run) => this.channel.send({ ...command, run }));
    at("take").hidden = !this.runs.some((run) => run.simulation);
    if (first && this.runs.some((run) => run.simulation)) {
      this.lead = this.runs.find((run) => run.simulation).id;
      this.timeline.following = true;
    }
    if (changed) this.refresh();
    if (changed && this.wanted.frame && this.timeline.count) this.goTo(Number(this.wanted.frame) || 0);
    if (this.timeline.count) delete this.wanted.frame;
    this.waitMessage();
  }

  /** Show the first recordings that have something to show, unless the address asks for others. */
  chooseShown() {
    const full = this.runs.filter((run) => run.count || run.simulation);
    (full.length ? full : this.runs).slice(0, MOST_PANES).forEach((run) => this.shown.add(run.id));
    this.obeyAddress();
  }

  /** Learn of new frames of what is shown, and whether there are any; a recording that cannot be read holds up no other. */
  async catchUp() {
    let isNew = false;
    for (const run of this.visible.filter((one) => one.frames.length !== one.count && one.asked !== one.count)) {
      const { count } = run;
      try {
        await run.update();
        isNew = true;
        if (run.frames.length < count) this.complain(`${run.name}: ${count - run.frames.length} of ${count} frames cannot be read`);
      } catch (error) {
        this.complain(error);
      }
      run.asked = count; // it is asked again when there are others
    }
    return isNew;
  }

  /** Say how many frames each recording of the list has. */
  countFrames() {
    const isLong = this.runs.length > MOST_TAGS;
    for (const run of this.runs) run.counter.textContent = !run.count ? " no frame" : isLong ? `${run.count} frames` : "";
  }

  /** Something came or went: panes, fields, timeline, plots. */
  refresh() {
    const { visible } = this;
    if (visible.length !== this.stage.displays.length || visible.some((run, k) => this.stage.displays[k].run !== run)) {
      this.stage.arrange(visible);
    }
    const known = new Map(visible.flatMap((run) => run.fields.map((field) => [field.name, field])));
    this.colors.offer([...known.values()]);
    this.chooseLead();
    this.updatePlots();
  }

  /** The recording whose frames the timeline and the plots show: the user's choice, or the first that has some. */
  chooseLead() {
    const { visible } = this, select = at("lead");
    select.hidden = visible.length < 2;
    const options = visible.map((run) => `${run.id} ${run.name}`).join("\n");
    if (options !== this.leads) {
      this.leads = options;
      select.replaceChildren(...visible.map((run) => new Option(`${run.name} leads`, run.id)));
    }
    const ready = visible.filter((run) => run.frames.length);
    const lead = ready.find((run) => run.id === this.lead) ?? ready[0] ?? visible[0];
    if (!lead) return;
    select.value = lead.id;
    this.timeline.update(lead);
  }

  /** The recordings: a few in the head of the page, many as a list beside it that can be searched. */
  listRuns() {
    const isLong = this.runs.length > MOST_TAGS;
    at("recordings").hidden = !isLong;
    at("runs").hidden = isLong;
    at(isLong ? "list" : "runs").replaceChildren(...this.runs.map((run) => this.runLabel(run)));
    at("search").oninput = () => {
      for (const label of at("list").children) label.hidden = !label.textContent.toLowerCase().includes(at("search").value.toLowerCase());
    };
  }

  runLabel(run) {
    const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.checked = this.shown.has(run.id);
    box.disabled = this.runs.length === 1;
    box.onchange = async () => {
      if (box.checked) this.shown.add(run.id);
      else this.shown.delete(run.id);
      await this.catchUp();
      this.refresh();
      this.waitMessage();
      this.address.touch();
    };
    label.append(box, ` ${run.name}`);
    run.counter = document.createElement("small");
    label.append(run.counter);
    return label;
  }

  /** Say why nothing is to be seen. */
  waitMessage() {
    const waiting = !this.visible.some((run) => run.frames.length);
    at("message").hidden = !waiting;
    const preparing = this.visible.some((run) => run.simulation?.state === "preparing");
    const above = this.runs.length > MOST_TAGS ? "in the list" : "above";
    at("message").textContent = !this.visible.length ? `Choose a recording ${above}.` : preparing ? "Preparing the simulation …" : "No frame yet.";
  }

  /** Show the frame of the timeline in every display. */
  showAll() {
    for (const display of this.stage.displays) this.load(display);
    const { lead } = this.timeline;
    if (lead) this.plots.at(lead.frames[this.timeline.place]);
    this.address.touch();
  }

  placeOf(run) {
    return run === this.timeline.lead ? this.timeline.place : run.placeAt(this.timeline.time);
  }

  /** Load what is wanted and show it; while one frame is on its way, only the newest wish is remembered. */
  async load(display) {
    const { run } = display;
    if (!run.frames.length) return;
    const known = run.recall(this.placeOf(run), this.fieldOf(run));
    if (known) this.show(display, known);
    if (this.loading.get(display)) return;
    this.loading.set(display, true);
    try {
      for (let place = -1, field = null; ; ) {
        const wanted = this.placeOf(run), name = this.fieldOf(run);
        if (wanted === place && name === field) break;
        [place, field] = [wanted, name];
        const frame = await run.load(place, field);
        if (this.stage.displays.includes(display)) this.show(display, frame);
      }
      if (display.trouble) this.stage.label(display);
      display.trouble = "";
      if (this.failed && !this.stage.displays.some((one) => one.trouble)) this.say((this.failed = ""));
    } catch (error) {
      this.complain(error);
      this.failed = display.trouble = error.message; // until a frame can be shown again
      this.stage.label(display, error.message);
    } finally {
      this.loading.delete(display);
    }
    if (this.timeline.playing && !this.failed) this.fetchAhead(run);
  }

  /** Fetch the next frames; what is wrong with one is told when it is due. */
  async fetchAhead(run) {
    const place = this.placeOf(run), field = this.fieldOf(run);
    for (let k = 1; k <= AHEAD && place + k < run.frames.length; k++) await run.load(place + k, field).catch(() => {});
  }

  fieldOf(run) {
    return run.fields.some((field) => field.name === this.colors.name) ? this.colors.name : "";
  }

  show(display, frame) {
    if (display.frame === frame) return;
    if (frame.note) this.complain(frame.note);
    const wider = this.colors.see(frame.field);
    this.stage.range = this.colors.range;
    const first = !display.fitted;
    display.show(frame);
    if (wider) this.repaint();
    if (first) this.fitWhole(display);
    if (this.selection?.run === display.run) this.followSelection(display);
    this.measure.follow(display);
  }

  /** Let the camera see the sheets where they begin, on their way, and where they end; frames that cannot be read aside. */
  async fitWhole(display) {
    const { run } = display, last = run.frames.length - 1;
    const places = new Set((this.stage.displays.length > MOST_WATCHED ? [0, 1] : WATCHED).map((part) => Math.round(part * last)));
    const seen = await Promise.all([...places].map((place) => run.load(place, "").catch(() => null)));
    if (!this.stage.displays.includes(display)) return;
    display.fit(seen.filter(Boolean));
    if (this.wanted.camera && display === this.stage.displays[0]) {
      display.wasMoved = true;
      toCamera(display, this.wanted.camera);
    }
  }

  repaint() {
    this.stage.range = this.colors.range;
    for (const display of this.stage.displays) display.repaint();
    this.stage.draw();
  }

  pick(display, face, u, place) {
    if (this.measure.isOn) return place && this.measure.add(display, place);
    for (const other of this.stage.displays) if (other !== display) other.select(-1);
    this.selection = face < 0 ? null : { run: display.run, u };
    display.select(face);
    this.readFace(display);
  }

  /** The same piece of material in the frame that is shown now, whatever its mesh. */
  followSelection(display) {
    display.select(faceAt(display.frame.mesh, ...this.selection.u));
    this.readFace(display);
  }

  /** Ask for the values of the marked face; while an answer is on its way, only the newest wish is remembered. */
  async readFace(display) {
    if (!this.selection || display.picked < 0) return showFace(null);
    if (this.reading) return;
    this.reading = true;
    try {
      let asked = null;
      while (this.selection?.run === display.run && display.picked >= 0 && asked !== `${display.frame.frame} ${display.picked}`) {
        asked = `${display.frame.frame} ${display.picked}`;
        showFace(await display.run.face(display.run.frames.indexOf(display.frame.frame), display.picked));
      }
    } catch (error) {
      this.complain(error);
    } finally {
      this.reading = false;
    }
  }

  goTo(frame) {
    const { lead } = this.timeline;
    const place = lead.frames.findIndex((number) => number >= frame);
    this.timeline.jump(place < 0 ? lead.frames.length - 1 : place);
  }

  /** Read the numbers of the leading run anew, at most once a second. */
  updatePlots() {
    if (this.plotting) return;
    this.plotting = setTimeout(async () => {
      const { lead } = this.timeline;
      try {
        if (lead) this.plots.put(await lead.series());
      } catch (error) {
        this.complain(error);
      }
      const again = lead && lead !== this.timeline.lead;
      this.plotting = null;
      if (again) this.updatePlots();
    }, this.plots.series ? 1000 : 0);
  }
}

try {
  window.studio = new Studio();
} catch (error) {
  at("message").hidden = false;
  at("message").textContent = `This browser cannot show the studio: ${error.message}`;
  throw error;
}
