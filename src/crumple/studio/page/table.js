// The table with the sheet on it: camera, light, the sheet as smooth patches, hands.

import {
  BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, DynamicDrawUsage, HemisphereLight, LineBasicMaterial,
  LineSegments, Mesh, MeshBasicMaterial, MeshStandardMaterial, OrbitControls, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3,
  WebGLRenderer,
} from "./vendor/three.min.js";
import { makeMesh, Patches } from "./patch.js";

const CREASE = 35; // degrees of turn from which on an edge is drawn sharp
const MOST_TRIANGLES = 60000;
const LOOKS = {
  paper: { front: "#fbf8f0", back: "#efeae0", roughness: 0.95, metalness: 0 },
  ruled: { front: "#fdfdf8", back: "#f4f2ea", roughness: 0.95, metalness: 0, lines: [0.008, 0], ink: "#7f9fd0" },
  checked: { front: "#fdfdf8", back: "#f4f2ea", roughness: 0.95, metalness: 0, lines: [0.005, 0.005], ink: "#a9c0d8" },
  foil: { front: "#c9ced3", back: "#b8bcc0", roughness: 0.32, metalness: 0.85 },
  mesh: { front: "#fbf8f0", back: "#dbe4ee", roughness: 0.95, metalness: 0, wire: true },
};

export class Table {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.scene = new Scene();
    this.scene.background = new Color("#b9ad9c");
    this.camera = new PerspectiveCamera(35, 1, 0.01, 20);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(0.1, -0.4, 0.34);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.target.set(0, 0, 0.01);
    this.controls.mouseButtons = { LEFT: null, MIDDLE: 1, RIGHT: 0 };
    this.controls.update();
    this.raycaster = new Raycaster();
    this._light();
    this.front = new MeshStandardMaterial({ side: DoubleSide });
    this.geometry = new BufferGeometry();
    this.sheet = new Mesh(this.geometry, this.front);
    this.sheet.castShadow = this.sheet.receiveShadow = true;
    this.sheet.frustumCulled = false;
    this.wire = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: "#3a4650", transparent: true, opacity: 0.6 }));
    this.wire.frustumCulled = false;
    this.obstacles = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ color: "#8a6a4a", roughness: 0.9, side: DoubleSide }));
    this.obstacles.receiveShadow = true;
    this.obstacles.frustumCulled = false;
    this.hands = new Map();
    this.scene.add(this.sheet, this.wire, this.obstacles);
    this.setLook("paper");
    this.resize();
  }

  _light() {
    this.scene.add(new HemisphereLight("#eef3ff", "#c9b49a", 1.0));
    const sun = new DirectionalLight("#fff1dc", 2.0);
    sun.position.set(-0.5, -0.25, 0.9);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, { left: -0.4, right: 0.4, top: 0.4, bottom: -0.4, near: 0.1, far: 3 });
    sun.shadow.bias = -0.002;
    sun.shadow.normalBias = 0.0;
    sun.shadow.radius = 5;
    this.scene.add(sun);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.fov = Math.min(35 / Math.min(this.camera.aspect, 1), 75);
    this.camera.updateProjectionMatrix();
  }

  setLook(name) {
    const look = LOOKS[name] || LOOKS.paper;
    this.look = look;
    this.front.color = new Color("#ffffff");
    this.front.roughness = look.roughness;
    this.front.metalness = look.metalness;
    this.front.vertexColors = true;
    this.front.needsUpdate = true;
    this.wire.visible = Boolean(look.wire);
    if (this.patches) this._paint();
  }

  /** Take a new mesh: its faces, pattern and the node of each vertex; obstacles as well. */
  setMesh({ faces, u, node, obstacle_x: points, obstacle_faces: others }) {
    const mesh = makeMesh(faces, node, u);
    const lined = Math.max(2, Math.min(8, Math.floor(Math.sqrt(MOST_TRIANGLES / mesh.count))));
    this.patches = new Patches(mesh, lined);
    this.geometry.dispose();
    for (const name of ["position", "normal"]) {
      const attribute = new BufferAttribute(this.patches[name], 3);
      attribute.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    }
    this.geometry.setIndex(new BufferAttribute(this.patches.index, 1));
    this._paint();
    this._setWire(mesh);
    const floor = this.obstacles.geometry;
    floor.dispose();
    floor.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
    floor.setIndex(new BufferAttribute(Uint32Array.from(others), 1));
    floor.computeVertexNormals();
  }

  _setWire(mesh) {
    const index = new Uint32Array(6 * mesh.count);
    for (let f = 0; f < mesh.count; f++) for (let k = 0; k < 3; k++) {
      index[6 * f + 2 * k] = 3 * f + k;
      index[6 * f + 2 * k + 1] = 3 * f + ((k + 1) % 3);
    }
    this.wire.geometry.dispose();
    this.wire.geometry.setAttribute("position", new BufferAttribute(this.patches.flat, 3));
    this.wire.geometry.setIndex(new BufferAttribute(index, 1));
  }

  /** Print the look on the pattern: it moves with the sheet and is never resampled. */
  _paint() {
    const { u } = this.patches, colors = new Float32Array((3 * u.length) / 2), { front, lines, ink } = this.look;
    const paper = new Color(front), line = new Color(ink || front);
    for (let k = 0; k < u.length / 2; k++) {
      const isInk = lines && [0, 1].some((d) => {
        const step = lines[1 - d];
        if (!step) return false;
        const rest = ((u[2 * k + d] / step) % 1 + 1) % 1;
        return Math.min(rest, 1 - rest) < 0.12;
      });
      (isInk ? line : paper).toArray(colors, 3 * k);
    }
    this.geometry.setAttribute("color", new BufferAttribute(colors, 3));
  }

  /** Show the sheet with vertices at `x`. */
  place(x) {
    this.patches.place(x, CREASE);
    this.geometry.getAttribute("position").needsUpdate = true;
    this.geometry.getAttribute("normal").needsUpdate = true;
    if (this.wire.visible) this.wire.geometry.getAttribute("position").needsUpdate = true;
  }

  /** Small crosses where hands and pins are. */
  placeHands(places) {
    for (const [key, mark] of this.hands) if (!(key in places)) this._drop(key, mark);
    for (const [key, place] of Object.entries(places)) {
      const mark = this.hands.get(key) || this._mark(key);
      mark.position.set(...place);
    }
  }

  _mark(key) {
    const s = 0.004, geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from([-s, 0, 0, s, 0, 0, 0, -s, 0, 0, s, 0, 0, 0, -s, 0, 0, s]), 3));
    const color = key.startsWith("pin") ? "#c0392b" : "#1479ff";
    const mark = new LineSegments(geometry, new LineBasicMaterial({ color, depthTest: false }));
    this.hands.set(key, mark);
    this.scene.add(mark);
    return mark;
  }

  _drop(key, mark) {
    this.scene.remove(mark);
    mark.geometry.dispose();
    mark.material.dispose();
    this.hands.delete(key);
  }

  /** The ray through a point of the canvas: origin and direction. */
  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster.ray;
  }

  /** Where a ray meets the sheet that is shown, or null. */
  hit(ray) {
    if (!this.patches) return null;
    const { position, index } = this.patches, a = new Vector3(), b = new Vector3(), c = new Vector3(), found = new Vector3();
    let best = null;
    for (let t = 0; t < index.length; t += 3) {
      a.fromArray(position, 3 * index[t]);
      b.fromArray(position, 3 * index[t + 1]);
      c.fromArray(position, 3 * index[t + 2]);
      if (!ray.intersectTriangle(a, b, c, false, found)) continue;
      const distance = found.distanceTo(ray.origin);
      if (!best || distance < best.distance) best = { point: found.clone(), distance };
    }
    return best && best.point;
  }

  draw() {
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }
}
