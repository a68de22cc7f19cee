// Small plots of numbers over the frames: lines, or areas on top of each other.

const INKS = [
  "#2f7ed8", "#e07b39", "#3aa575", "#c24d7c", "#8a63c9", "#b59a2d", "#4fb3c4",
  "#8d6e63", "#7b8794", "#d45d5d", "#5c6bc0", "#9ccc65", "#f0b429", "#26867a"];
const KINDS = [
  { key: "energies", title: "energies [J]", stacked: false },
  { key: "contacts", title: "contacts", stacked: false },
  { key: "faces", title: "faces", stacked: false },
  { key: "phases", title: "seconds per frame, by phase", stacked: true },
];

export const short = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
};

/** The four plots; `onScrub(frame)` is called when the user clicks into one. */
export class Plots {
  constructor(section, onScrub) {
    this.onScrub = onScrub;
    this.series = null;
    this.frame = 0;
    this.plots = KINDS.map((kind) => ({ ...kind, ...makePlot(section, kind.title), off: new Set() }));
    for (const plot of this.plots) {
      const go = (event) => event.buttons && this.scrub(plot, event);
      plot.canvas.addEventListener("pointerdown", go);
      plot.canvas.addEventListener("pointermove", go);
      plot.keys.addEventListener("click", (event) => this.toggle(plot, event.target.closest("span")));
    }
    new ResizeObserver(() => this.draw()).observe(section);
  }

  /** Plot these numbers. */
  put(series) {
    this.series = series;
    this.draw();
  }

  /** Move the cursor to a frame. */
  at(frame) {
    this.frame = frame;
    if (this.series) for (const plot of this.plots) pointAt(plot, this.series, frame);
  }

  /** Leave a line out, or show it again. */
  toggle(plot, key) {
    if (!key?.dataset.name) return;
    if (!plot.off.delete(key.dataset.name)) plot.off.add(key.dataset.name);
    this.draw();
  }

  scrub(plot, event) {
    const frames = this.series?.frame ?? [];
    if (!frames.length) return;
    const box = plot.canvas.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
    this.onScrub(frames[0] + Math.round(Math.min(Math.max(share, 0), 1) * (frames.at(-1) - frames[0])));
  }

  draw() {
    if (!this.series) return;
    for (const plot of this.plots) {
      drawPlot(plot, this.series);
      pointAt(plot, this.series, this.frame);
    }
  }
}

function makePlot(section, title) {
  const root = Object.assign(document.createElement("div"), { className: "plot" });
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-label", title);
  const keys = Object.assign(document.createElement("div"), { className: "keys" });
  const cursor = Object.assign(document.createElement("div"), { className: "cursor" });
  root.append(canvas, cursor, keys);
  section.append(root);
  return { canvas, cursor, keys };
}

/** Lines of a plot: name and values. */
function linesOf(series, key) {
  const values = series[key];
  return Array.isArray(values) ? [[key, values]] : Object.entries(values ?? {});
}

/** Put the cursor and the numbers beside the names at a frame. */
function pointAt({ cursor, keys, key }, series, frame) {
  const frames = series.frame, now = frames.indexOf(frame), first = frames[0] ?? 0;
  cursor.hidden = now < 0;
  cursor.style.left = `${(100 * (frame - first)) / Math.max((frames.at(-1) ?? 1) - first, 1)}%`;
  linesOf(series, key).forEach(([, values], k) => {
    if (keys.children[k]) keys.children[k].lastChild.textContent = short(values[now]);
  });
}

function drawPlot({ canvas, keys, key, title, stacked, off }, series) {
  const ratio = window.devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas), quiet = style.getPropertyValue("--quiet");
  pen.scale(ratio, ratio);
  const frames = series.frame, lines = linesOf(series, key);
  const on = lines.map(([name, values]) => (off.has(name) ? values.map(() => null) : values));
  const sums = stacked ? stack(on, frames.length) : on;
  const numbers = sums.flat().filter((value) => value !== null);
  const high = numbers.reduce((a, b) => Math.max(a, b), 0), low = numbers.reduce((a, b) => Math.min(a, b), 0);
  const first = frames[0] ?? 0, span = Math.max((frames.at(-1) ?? 1) - first, 1), range = high - low || 1;
  const x = (k) => ((frames[k] - first) / span) * (width - 1) + 0.5, y = (value) => height - 2 - ((value - low) / range) * (height - 18);
  pen.strokeStyle = style.getPropertyValue("--line");
  pen.strokeRect(0.5, 14.5, width - 1, height - 15);
  for (let k = lines.length - 1; k >= 0; k--) drawLine(pen, sums[k], x, y, INKS[k % INKS.length], stacked, y(0));
  pen.fillStyle = quiet;
  pen.font = `11px ${style.fontFamily}`;
  pen.fillText(title, 0, 10);
  pen.textAlign = "right";
  pen.fillText(`max ${short(high)}`, width, 10);
  keys.replaceChildren(...lines.map(([name], k) => legendKey(lines.length > 1 ? name : "", INKS[k % INKS.length], off.has(name))));
}

/** Running sums of the lines, so that areas lie on top of each other. */
function stack(lines, length) {
  const total = new Array(length).fill(0);
  return lines.map((values) => values.map((value, k) => (total[k] += value ?? 0)));
}

function drawLine(pen, values, x, y, ink, filled, base) {
  pen.beginPath();
  let open = false, last = 0;
  values.forEach((value, k) => {
    if (value === null) {
      open = false;
      return;
    }
    if (!open && filled && last === 0) pen.moveTo(x(k), base);
    if (open || (filled && last === 0)) pen.lineTo(x(k), y(value));
    else pen.moveTo(x(k), y(value));
    open = true;
    last = k;
  });
  if (filled && values.length) {
    pen.lineTo(x(last), base);
    pen.fillStyle = ink;
    pen.fill();
  } else if (!filled) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1.4;
    pen.stroke();
    pen.lineWidth = 1;
  }
}

function legendKey(name, ink, off) {
  const key = document.createElement("span"), dot = document.createElement("i");
  key.className = off ? "off" : "";
  if (name) Object.assign(key, { title: "show or hide" }).dataset.name = name;
  dot.style.background = ink;
  key.append(dot, `${name} `, document.createElement("b"));
  return key;
}
