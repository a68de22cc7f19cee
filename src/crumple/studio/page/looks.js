// What a sheet looks like: colours, gloss, and the print on its front.

import { CanvasTexture } from "./vendor/three.min.js";
import { drawPrint } from "./prints.js";

const SRGB = "srgb";
const PAPER = { roughness: 0.93, metalness: 0, mirror: 0, print: "paper", back: "#f1ece1" };

export const LOOKS = {
  paper: PAPER,
  ruled: { ...PAPER, print: "ruled" },
  checked: { ...PAPER, print: "checked" },
  newspaper: { ...PAPER, print: "newspaper", back: "#d9d4c6" },
  foil: { roughness: 0.3, metalness: 1, mirror: 1.15, print: "foil", back: "#cdd1d6" },
  cloth: { ...PAPER, roughness: 1, print: "cloth", back: "#b9c7d8" },
  picture: { ...PAPER, print: "picture" },
  mesh: { ...PAPER, print: "plain", back: "#dbe4ee" },
};

/** Let materials of front and back look like this; `extent` [m] of the pattern, `picture` the user's own. */
export function dress([front, back], name, extent, picture = null, room = null) {
  const look = LOOKS[name] ?? PAPER;
  front.map?.dispose();
  front.map = makeTexture(look.print, extent, picture);
  front.color.set("#ffffff");
  back.color.set(look.back);
  for (const material of [front, back]) {
    Object.assign(material, { roughness: look.roughness, metalness: look.metalness, envMapIntensity: look.mirror, envMap: look.mirror ? room : null });
    material.needsUpdate = true;
  }
  if (name === "foil") back.roughness = 0.42; // one side of kitchen foil is duller
}

function makeTexture(print, extent, picture) {
  const texture = new CanvasTexture(drawPrint(print, extent, picture));
  texture.colorSpace = SRGB;
  texture.anisotropy = 4;
  return texture;
}
