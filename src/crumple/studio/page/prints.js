// Prints for sheets, drawn into a canvas at their true size.

const LONG_SIDE = 1024; // pixels

const NEWS = [
  "Sheet taken by its corners, folded, and let go: witnesses heard it crackle.", "Creases, experts say, are here to stay.",
  "A crumpled page keeps its secrets: each ridge stores what the hand has done.", "No part of the paper has passed through another.",
  "The table, asked for a comment, stayed where it was.", "Foil prices mirror the mood of the market.",
  "Weather: light wind from the left, later calm.", "Lost: one square of note paper, last seen in a corner.",
  "Sport: dart lands nose first; crowd applauds.", "Readers write: my napkin never yields.",
];

/** A canvas of the shape of `extent` [m] with a print on it. */
export function drawPrint(name, extent, picture) {
  const canvas = document.createElement("canvas"), scale = LONG_SIDE / Math.max(...extent);
  canvas.width = Math.max(2, Math.round(extent[0] * scale));
  canvas.height = Math.max(2, Math.round(extent[1] * scale));
  const pen = canvas.getContext("2d");
  (PRINTS[name] ?? PRINTS.paper)(pen, canvas.width, canvas.height, scale, picture);
  return canvas;
}

/** A canvas that looks like a table, to be laid over it again and again. */
export function drawWood(size = 512) {
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const pen = canvas.getContext("2d"), random = makeRandom(11), turn = (2 * Math.PI) / size;
  fill(pen, size, size, "#a88560");
  for (let k = 0; k < 260; k++) {
    const y = size * random(), swing = 5 * random(), phase = 6 * random(), isDark = random() < 0.55;
    pen.strokeStyle = isDark ? `rgba(86,56,30,${0.05 + 0.09 * random()})` : `rgba(226,190,150,${0.04 + 0.07 * random()})`;
    pen.lineWidth = 0.6 + 2.4 * random();
    for (const shift of [-size, 0, size]) {
      pen.beginPath();
      for (let x = 0; x <= size; x += 16) pen.lineTo(x, y + shift + swing * Math.sin(turn * x + phase));
      pen.stroke();
    }
  }
  speckle(pen, size, size, 9, 4);
  return canvas;
}

const PRINTS = {
  plain: (pen, w, h) => fill(pen, w, h, "#fbf8f0"),
  paper: (pen, w, h) => {
    fill(pen, w, h, "#fbf9f4");
    speckle(pen, w, h, 7, 1);
  },
  ruled: (pen, w, h, scale) => {
    PRINTS.paper(pen, w, h);
    for (let y = 0.018 * scale; y < h - 0.006 * scale; y += 0.008 * scale) line(pen, 0, y, w, y, "#8fb0dc", 0.0004 * scale);
    line(pen, 0.025 * scale, 0, 0.025 * scale, h, "#d98a8a", 0.0005 * scale);
  },
  checked: (pen, w, h, scale) => {
    PRINTS.paper(pen, w, h);
    for (let y = 0; y < h; y += 0.005 * scale) line(pen, 0, y, w, y, "#b3c7dd", 0.0003 * scale);
    for (let x = 0; x < w; x += 0.005 * scale) line(pen, x, 0, x, h, "#b3c7dd", 0.0003 * scale);
  },
  newspaper: drawNewspaper,
  foil: (pen, w, h) => {
    fill(pen, w, h, "#d8dbdf");
    brush(pen, w, h);
  },
  cloth: drawCloth,
  picture: (pen, w, h, scale, picture) => {
    fill(pen, w, h, "#ffffff");
    if (!picture) return;
    const fit = Math.max(w / picture.width, h / picture.height); // it covers the sheet, and is cut where it is too long
    pen.drawImage(picture, (w - fit * picture.width) / 2, (h - fit * picture.height) / 2, fit * picture.width, fit * picture.height);
  },
};

function fill(pen, w, h, color) {
  pen.fillStyle = color;
  pen.fillRect(0, 0, w, h);
}

function line(pen, x0, y0, x1, y1, color, width) {
  pen.strokeStyle = color;
  pen.lineWidth = Math.max(width, 1);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

/** Numbers that look random and are the same every time. */
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
}

/** Fibres and unevenness: each pixel lighter or darker by up to `depth` of 255. */
function speckle(pen, w, h, depth, seed) {
  const image = pen.getImageData(0, 0, w, h), random = makeRandom(seed), { data } = image;
  let slow = 0;
  for (let k = 0; k < data.length; k += 4) {
    slow = 0.8 * slow + 0.2 * (random() - 0.5);
    const change = depth * (0.5 * (random() - 0.5) + 1.6 * slow);
    for (let c = 0; c < 3; c++) data[k + c] += change;
  }
  pen.putImageData(image, 0, 0);
}

/** Rolling marks of foil. */
function brush(pen, w, h) {
  const random = makeRandom(5);
  for (let x = 0; x < w; x += 2) {
    const shade = Math.round(205 + 24 * random());
    line(pen, x, 0, x, h, `rgba(${shade},${shade},${shade + 4},0.5)`, 2);
  }
}

/** Plain weave in white and blue stripes. */
function drawCloth(pen, w, h, scale) {
  fill(pen, w, h, "#dfe6ee");
  pen.fillStyle = "#8ea6c466";
  const step = 0.016 * scale;
  for (let x = step / 2; x < w; x += step) pen.fillRect(x, 0, step / 2, h);
  for (let y = step / 2; y < h; y += step) pen.fillRect(0, y, w, step / 2);
  const thread = Math.max(0.0008 * scale, 2);
  for (let x = 0; x < w; x += thread) line(pen, x, 0, x, h, "#5a6c8522", 1);
  for (let y = 0; y < h; y += thread) line(pen, 0, y, w, y, "#ffffff44", 1);
}

function drawNewspaper(pen, w, h, scale) {
  fill(pen, w, h, "#e6e1d3");
  speckle(pen, w, h, 16, 3);
  const ink = "#26241f", edge = 0.012 * scale, random = makeRandom(9);
  pen.fillStyle = ink;
  pen.textBaseline = "top";
  pen.textAlign = "center";
  pen.font = `700 ${0.075 * w}px Georgia, "Times New Roman", serif`;
  pen.fillText("The Daily Crease", w / 2, edge, w - 2 * edge);
  let top = edge + 0.09 * w;
  line(pen, edge, top, w - edge, top, ink, 2);
  pen.font = `700 ${0.05 * w}px Georgia, "Times New Roman", serif`;
  pen.fillText("Paper wins over hand", w / 2, top + 0.012 * w, w - 2 * edge);
  top += 0.08 * w;
  const columns = w > h ? 5 : 4, gap = 0.02 * w, width = (w - 2 * edge - gap * (columns - 1)) / columns, size = 0.0165 * w;
  pen.textAlign = "left";
  for (let c = 0; c < columns; c++) {
    const x = edge + c * (width + gap);
    let y = top;
    if (c === 1) {
      drawHalftone(pen, x, y, 2 * width + gap, 0.62 * width, random);
      y += 0.66 * width;
    } else if (c === 2) y += 0.66 * width;
    drawColumn(pen, x, y, width, h - edge, size, random);
  }
}

/** Set lines of type until the column is full. */
function drawColumn(pen, x, y, width, bottom, size, random) {
  let words = [], paragraph = 0;
  while (y + size < bottom) {
    if (!words.length) {
      words = NEWS[Math.floor(random() * NEWS.length)].split(" ");
      if (paragraph++ % 4 === 0) {
        pen.font = `700 ${1.5 * size}px Georgia, "Times New Roman", serif`;
        pen.fillText(words.slice(0, 3).join(" "), x, y, width);
        y += 2 * size;
      }
    }
    pen.font = `${size}px Georgia, "Times New Roman", serif`;
    let text = words.shift();
    while (words.length && pen.measureText(`${text} ${words[0]}`).width < width) text += ` ${words.shift()}`;
    pen.fillText(text, x, y, width);
    y += 1.22 * size;
  }
}

/** A photograph in dots: hills and a sun. */
function drawHalftone(pen, x, y, w, h, random) {
  const step = Math.max(w / 70, 3), phase = 6 * random();
  for (let i = 0; i < w; i += step) {
    for (let j = 0; j < h; j += step) {
      const hill = 0.55 + 0.2 * Math.sin((5 * i) / w + phase) + 0.08 * Math.sin((17 * i) / w), sun = Math.hypot(i - 0.72 * w, j - 0.28 * h) < 0.16 * h;
      const dark = j / h > hill ? 0.75 : sun ? 0.05 : 0.35;
      pen.beginPath();
      pen.arc(x + i, y + j, 0.62 * step * Math.sqrt(dark), 0, 7);
      pen.fill();
    }
  }
}
