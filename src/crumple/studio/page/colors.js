// Colour maps, and the colours of faces and nodes.

// Stops in sRGB, evenly spaced; from matplotlib (viridis: CC0; YlOrRd, coolwarm after Brewer and Moreland).
const STOPS = {
  viridis: "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725",
  YlOrRd: "ffffcc fff6b6 ffeda0 fee38b fed976 fec561 feb24c fd9f44 fd8c3c fc6c33 fc4d2a ef3323 e2191c cf0c21 bb0026 9d0026 800026",
  coolwarm: "3b4cc0 4e68d8 6282ea 779af7 8db0fe a3c2fe b9d0f9 ccd9ed dddcdc ecd3c5 f5c4ac f7b093 f4987a eb7d62 dd5f4b ca3b37 b40426",
  tab10: "1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf",
};
const STEPS = 256;
const NONE = [0.5, 0.5, 0.5]; // where there is no number

const stops = (name) =>
  STOPS[name].split(" ").map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255));
const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const tables = new Map();

/** Whether the values of a map are kinds of things and no quantities. */
export const isCategorical = (name) => name === "tab10";

/** sRGB at `share` (0 to 1) of a map. */
function sample(colors, share) {
  const at = Math.min(Math.max(share, 0), 1) * (colors.length - 1);
  const k = Math.min(Math.floor(at), colors.length - 2), t = at - k;
  return [0, 1, 2].map((c) => (1 - t) * colors[k][c] + t * colors[k + 1][c]);
}

/** Linear red, green, blue of a map at STEPS places, or of its ten kinds. */
function table(name) {
  if (!tables.has(name)) {
    const colors = stops(name);
    const rows = isCategorical(name) ? colors : Array.from({ length: STEPS }, (_, k) => sample(colors, k / (STEPS - 1)));
    tables.set(name, new Float32Array(rows.flat().map(linear)));
  }
  return tables.get(name);
}

/** Write the colour of each corner of a mesh into `out` (linear); `where` the values are: "face", "node", "vertex". */
export function paint(out, mesh, values, where, colormap, low, high) {
  const colors = table(colormap), kinds = isCategorical(colormap), scale = high > low ? (STEPS - 1) / (high - low) : 0;
  for (let c = 0; c < mesh.corners.length; c++) {
    const element = where === "face" ? (c / 3) | 0 : where === "node" ? mesh.corners[c] : mesh.faces[c];
    const value = values[element];
    if (!Number.isFinite(value)) {
      out.set(NONE, 3 * c);
      continue;
    }
    const row = kinds ? ((Math.round(value) % 10) + 10) % 10 : Math.min(Math.max(Math.round((value - low) * scale), 0), STEPS - 1);
    out[3 * c] = colors[3 * row];
    out[3 * c + 1] = colors[3 * row + 1];
    out[3 * c + 2] = colors[3 * row + 2];
  }
}

/** Draw the scale of a map into a canvas. */
export function drawScale(canvas, colormap) {
  const pen = canvas.getContext("2d"), colors = stops(colormap), kinds = isCategorical(colormap);
  for (let x = 0; x < canvas.width; x++) {
    const share = x / (canvas.width - 1);
    const color = kinds ? colors[Math.min(Math.floor(10 * share), 9)] : sample(colors, share);
    pen.fillStyle = `rgb(${color.map((v) => Math.round(255 * v)).join(",")})`;
    pen.fillRect(x, 0, 1, canvas.height);
  }
}
