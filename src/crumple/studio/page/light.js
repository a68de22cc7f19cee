// Light in the room: a window, the sky, and what foil mirrors. Everything is made here, nothing is loaded.

import {
  BoxGeometry, Color, DirectionalLight, HemisphereLight, Mesh, MeshBasicMaterial, PMREMGenerator, Scene,
} from "./vendor/three.min.js";

const BACK_SIDE = 1;

/** Put lights into a scene; returns the one that casts shadows. */
export function addLights(scene, reach = 0.4) {
  scene.add(new HemisphereLight("#f4f6fb", "#d8cfc2", 1.5));
  const fill = new DirectionalLight("#e6edff", 0.3);
  fill.position.set(0.7, 0.5, 0.5);
  const sun = new DirectionalLight("#fff8ee", 1.8);
  sun.position.set(-0.5, -0.25, 0.9);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 3 });
  sun.shadow.bias = -0.0008;
  sun.shadow.normalBias = 0.0025; // m: facets that are nearly along the light must not shade themselves
  sun.shadow.radius = 4;
  scene.add(fill, sun);
  return sun;
}

/** A room to be mirrored: walls, a window, a lamp; each a box of plain light. */
export function makeRoom(renderer) {
  const room = new Scene(), box = new BoxGeometry();
  const put = (color, strength, size, place, side = 0) => {
    const one = new Mesh(box, new MeshBasicMaterial({ color: new Color(color).multiplyScalar(strength), side }));
    one.scale.set(...size);
    one.position.set(...place);
    room.add(one);
  };
  put("#9a958e", 0.95, [10, 10, 6], [0, 0, 2], BACK_SIDE);
  put("#f4f7ff", 9, [0.1, 4, 2.4], [-4.8, -1, 2.6]);
  put("#fff2dd", 7, [2.4, 1.4, 0.1], [1.5, -1.5, 4.9]);
  put("#ffe9cf", 2.5, [3, 0.1, 1.6], [1, 4.9, 1.6]);
  put("#2c2a28", 1, [10, 10, 0.1], [0, 0, -0.9]);
  put("#3d3a37", 1, [0.1, 3, 2.8], [4.8, 1, 0.6]);
  const maker = new PMREMGenerator(renderer), { texture } = maker.fromScene(room, 0.03);
  maker.dispose();
  box.dispose();
  return texture;
}
