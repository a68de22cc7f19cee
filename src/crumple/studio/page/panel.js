// The panel on the right: colours and their limits, what is shown, simulations, the values of a face.

import { drawScale, isCategorical } from "./colors.js";
import { Drives } from "./drives.js";
import { short } from "./plots.js";

const at = (id) => document.getElementById(id);

/** Choice of the field, and the limits of its colours; `onField()`, `onRange()` when the user changes them. */
export class Colors {
  constructor(onField, onRange) {
    Object.assign(this, { onField, onRange });
    this.name = "";
    this.fields = [];
    this.reset();
    at("field").onchange = () => {
      this.name = at("field").value;
      this.reset();
      this.onField();
    };
    at("auto").onclick = () => {
      this.reset();
      this.onField();
    };
    for (const id of ["low", "high"]) at(id).onchange = () => this.type(id);
  }

  /** Forget the limits; the frames that come set them. */
  reset() {
    this.automatic = true;
    this.range = { low: Infinity, high: -Infinity };
  }

  /** Colour by this field as soon as it is offered, with limits `range` or those of the frames. */
  want(name, range) {
    this.name = this.wanted = name;
    if (!range) return;
    this.automatic = false;
    this.range = { low: range[0], high: range[1] };
  }

  /** Offer these fields. */
  offer(fields) {
    if (fields.map((one) => one.name).join() === this.fields.map((one) => one.name).join()) return;
    this.fields = fields;
    const options = fields.map((one) => Object.assign(new Option(one.title, one.name), { title: one.definition }));
    at("field").replaceChildren(new Option("plain", ""), ...options);
    if (fields.length && this.wanted) this.name = this.wanted;
    if (fields.length) this.wanted = "";
    if (!fields.some((one) => one.name === this.name)) this.name = "";
    at("field").value = this.name;
  }

  /** A frame is shown: whether its values widened the limits. */
  see(field) {
    at("legend").hidden = !field;
    if (!field) return false;
    drawScale(at("scale"), field.colormap);
    const before = { ...this.range };
    if (isCategorical(field.colormap)) this.range = { low: 0, high: 9 };
    else if (this.automatic) {
      this.range = { low: Math.min(before.low, field.low), high: Math.max(before.high, field.high) };
    }
    for (const id of ["low", "high"]) if (document.activeElement !== at(id)) at(id).value = short(this.range[id]);
    return this.range.low !== before.low || this.range.high !== before.high;
  }

  type(id) {
    const value = Number(at(id).value.replace(",", "."));
    if (at(id).value.trim() === "" || !Number.isFinite(value)) {
      at(id).value = short(this.range[id]);
      return;
    }
    this.automatic = false;
    this.range = { ...this.range, [id]: value };
    this.onRange();
  }
}

/** What was asked for is refused: sliders show how things are. */
export function forgetWishes() {
  for (const row of at("simulations").children) row.drives.forget();
}

/** The values of a face as rows of a table. */
export function showFace(face) {
  at("hint").hidden = Boolean(face);
  const rows = face
    ? [
        ["face", String(face.face)],
        ["nodes", face.nodes.join(", ")],
        ["x [mm]", face.x.map((v) => (1e3 * v).toFixed(1)).join(", ")],
        ["pattern [mm]", face.u.map((v) => (1e3 * v).toFixed(1)).join(", ")],
        ["area [mm²]", short(1e6 * face.area)],
        ...face.values.map((one) => [one.title, short(one.value)]),
      ]
    : [];
  at("face").replaceChildren(...rows.map(tableRow));
}

function tableRow(cells) {
  const row = document.createElement("tr");
  for (const text of cells) row.append(Object.assign(document.createElement("td"), { textContent: text }));
  return row;
}

const SAYS = {
  preparing: "preparing; the first run on a machine compiles kernels, a minute or two",
  running: "running", pausing: "pausing after this step", paused: "paused", stopping: "stopping after this step",
  finished: "finished", stopped: "stopped", failed: "failed",
};

/** Progress, buttons and sliders of every run that the studio simulates; `send(command, run)`. */
export function showSimulations(runs, send) {
  const running = runs.filter((run) => run.simulation);
  at("simulation").hidden = !running.length;
  const box = at("simulations");
  for (const run of running) {
    const row = box.querySelector(`[data-run="${run.id}"]`) ?? box.appendChild(simulationRow(run, send));
    const { state, frame, frames, time, message, drives } = run.simulation;
    const over = ["finished", "stopped", "failed"].includes(state);
    const [text, bar, hold, stop] = row.children;
    text.textContent = `${run.name}: ${message || SAYS[state] || state}${frames ? ` · frame ${frame} of ${frames} · ${time.toFixed(3)} s` : ""}`;
    text.className = state === "failed" ? "bad" : "";
    bar.max = frames || 1;
    if (state === "preparing") bar.removeAttribute("value");
    else bar.value = frame;
    hold.textContent = ["paused", "pausing"].includes(state) ? "continue" : "pause";
    hold.disabled = over || ["stopping", "preparing"].includes(state);
    stop.disabled = over || state === "stopping";
    row.dataset.state = state;
    row.drives.show(drives, over || ["stopping", "preparing"].includes(state));
  }
}

function simulationRow(run, send) {
  const row = Object.assign(document.createElement("div"), { className: "simulation" });
  row.dataset.run = run.id;
  const text = document.createElement("p"), bar = document.createElement("progress");
  const hold = Object.assign(document.createElement("button"), { className: "hold", textContent: "pause" });
  const stop = Object.assign(document.createElement("button"), { className: "stop", textContent: "stop" });
  hold.onclick = () => send({ do: hold.textContent }, run.id);
  stop.onclick = () => send({ do: "stop" }, run.id);
  const box = Object.assign(document.createElement("div"), { className: "drives", hidden: true });
  row.drives = new Drives(box, (command) => send(command, run.id));
  row.append(text, bar, hold, stop, box);
  return row;
}
