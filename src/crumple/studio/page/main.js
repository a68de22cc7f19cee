// Puts the studio together: news from the server, frames into displays, the panel and the timeline.

import { Channel, Run } from "./data.js";
import { Colors, showFace, showSimulations } from "./panel.js";
import { Plots } from "./plots.js";
import { faceAt } from "./surface.js";
import { Timeline } from "./timeline.js";
import { Stage } from "./view.js";

const AHEAD = 3; // frames fetched before they are due
const at = (id) => document.getElementById(id);

class Studio {
  constructor() {
    this.runs = [];
    this.shown = new Set();
    this.selection = null; // { run, u: place in the pattern }
    this.stage = new Stage(at("canvas"), at("panes"), (display, face, u) => this.pick(display, face, u));
    this.timeline = new Timeline(() => this.showAll());
    this.colors = new Colors(() => this.showAll(), () => this.repaint());
    this.plots = new Plots(at("plots"), (frame) => this.goTo(frame));
    this.loading = new Map();
    this.failed = "";
    this.connectControls();
    this.setTheme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.channel = new Channel({
      onNews: (news) => this.hear(news).catch((error) => this.complain(error)),
      onError: (line) => this.complain(line),
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

  connectControls() {
    for (const id of ["wireframe", "obstacles", "pattern", "linked"]) {
      at(id).onchange = () => {
        this.stage.look[id] = at(id).checked;
        if (id === "pattern") this.stage.arrange(this.visible);
        else this.stage.refresh();
      };
    }
    at("shading").onchange = () => {
      this.stage.look.shading = Number(at("shading").value);
      for (const display of this.stage.displays) display.reshade();
      this.stage.draw();
    };
    at("lead").onchange = () => {
      this.lead = Number(at("lead").value);
      this.refresh();
    };
    at("fit").onclick = () => this.stage.displays.forEach((display) => display.fit());
    at("theme").onclick = () => this.setTheme(this.stage.theme === "dark" ? "light" : "dark");
    document.addEventListener("keydown", (event) => {
      const keys = { w: "wireframe", o: "obstacles", p: "pattern", f: "fit" };
      if (event.target.matches("input:not([type=range], [type=checkbox]), select") || event.ctrlKey || event.metaKey) return;
      if (keys[event.key]) at(keys[event.key]).click();
    });
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
    if (first) this.runs.slice(0, 9).forEach((run) => this.shown.add(run.id));
    let changed = Boolean(fresh.length);
    for (const [k, { name, generation, count, simulation }] of news.entries()) {
      const run = this.runs[k];
      Object.assign(run, { name, simulation });
      if (run.generation !== generation && run.generation >= 0) run.forget(generation);
      if (run.count !== count || run.frames.length !== count) {
        run.count = count;
        await run.update();
        changed = true;
      }
    }
    if (fresh.length) this.listRuns();
    showSimulations(this.runs, (what, run) => this.channel.command(what, run));
    if (first && this.runs.some((run) => run.simulation)) {
      this.lead = this.runs.find((run) => run.simulation).id;
      this.timeline.following = true;
    }
    if (changed) this.refresh();
    this.waitMessage();
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

  listRuns() {
    at("runs").replaceChildren(
      ...this.runs.map((run) => {
        const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox" });
        box.checked = this.shown.has(run.id);
        box.disabled = this.runs.length === 1;
        box.onchange = () => {
          if (box.checked) this.shown.add(run.id);
          else this.shown.delete(run.id);
          this.refresh();
          this.waitMessage();
        };
        label.append(box, ` ${run.name}`);
        return label;
      }),
    );
  }

  /** Say why nothing is to be seen. */
  waitMessage() {
    const waiting = !this.visible.some((run) => run.frames.length);
    at("message").hidden = !waiting;
    const preparing = this.visible.some((run) => run.simulation?.state === "preparing");
    at("message").textContent = !this.visible.length ? "Choose a recording above." : preparing ? "Preparing the simulation …" : "No frame yet.";
  }

  /** Show the frame of the timeline in every display. */
  showAll() {
    for (const display of this.stage.displays) this.load(display);
    const { lead } = this.timeline;
    if (lead) this.plots.at(lead.frames[this.timeline.place]);
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
      if (this.failed) this.say((this.failed = ""));
    } catch (error) {
      this.complain(error);
      this.failed = error.message; // until a frame can be shown again
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
  }

  /** Let the camera see the sheets where they begin and where they end. */
  async fitWhole(display) {
    const { run } = display;
    const ends = await Promise.all([run.load(0, ""), run.load(run.frames.length - 1, "")]);
    if (this.stage.displays.includes(display)) display.fit(ends);
  }

  repaint() {
    this.stage.range = this.colors.range;
    for (const display of this.stage.displays) display.repaint();
    this.stage.draw();
  }

  pick(display, face, u) {
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
