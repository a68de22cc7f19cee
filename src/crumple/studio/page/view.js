// What is drawn: one WebGL canvas behind panes; each recording has a pane for the world and one for the flat pattern.

import {
  BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, HemisphereLight, Mesh, MeshBasicMaterial,
  MeshStandardMaterial, OrbitControls, OrthographicCamera, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3, WebGLRenderer,
} from "./vendor/three.min.js";
import { paint } from "./colors.js";
import { makeRoom } from "./light.js";
import { dress } from "./looks.js";
import { Corners, makeGlass, makeMark, makeWire, onClick, pane } from "./pieces.js";
import { middleOf, placeCorners, placeIn, placePattern, shade } from "./surface.js";

const THEMES = {
  light: { ground: "#e6e9ec", front: "#f3efe6", back: "#cfdcea", wire: "#3a4650", obstacle: "#7d93a8", flat: "#f7f5f0" },
  dark: { ground: "#23282d", front: "#e4e0d7", back: "#a9bfd6", wire: "#11161a", obstacle: "#8fa6bc", flat: "#c9c6bf" },
};
const FRONT_SIDE = 0, BACK_SIDE = 1;

/** One recording on the screen. */
export class Display {
  constructor(stage, run) {
    Object.assign(this, { stage, run });
    this.frame = null;
    this.dressed = "";
    this.fitted = false;
    this.box = null;
    this.picked = -1;
    this.makeWorld();
    this.makePattern();
    this.recolor();
  }

  makeWorld() {
    this.element = pane("");
    this.world = new Scene();
    this.camera = new PerspectiveCamera(35, 1, 0.001, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.element);
    this.controls.addEventListener("change", () => this.stage.moved(this));
    const sun = new DirectionalLight("#ffffff", 2.4);
    sun.position.set(-0.6, -0.8, 1.4);
    const fill = new DirectionalLight("#dfe9ff", 0.5);
    fill.position.set(1, 0.7, 0.2);
    this.sky = new HemisphereLight("#ffffff", "#a8a59f", 1.15);
    this.world.add(sun, fill, this.sky);
    this.corners = new Corners();
    const paper = { roughness: 0.85, metalness: 0, vertexColors: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
    this.sides = [FRONT_SIDE, BACK_SIDE].map((side) => new Mesh(this.corners.geometry, new MeshStandardMaterial({ ...paper, side })));
    for (const side of this.sides) side.frustumCulled = false;
    this.wire = makeWire(this.corners, "#000000", 0.55);
    this.mark = makeMark();
    this.obstacles = new Mesh(new BufferGeometry(), makeGlass());
    this.obstacles.frustumCulled = false;
    this.world.add(...this.sides, this.wire, this.mark, this.obstacles);
    onClick(this.element, (x, y) => this.pick(x, y, this.camera, this.sides));
  }

  makePattern() {
    this.patternElement = pane("pattern");
    this.flat = new Scene();
    this.flatCamera = new OrthographicCamera(-1, 1, 1, -1, -10, 10);
    this.flatControls = new OrbitControls(this.flatCamera, this.patternElement);
    this.flatControls.enableRotate = false;
    this.flatControls.mouseButtons.LEFT = 2; // pan
    this.flatControls.touches.ONE = 1;
    this.flatControls.addEventListener("change", () => this.stage.draw());
    this.flatCorners = new Corners();
    const ink = { vertexColors: true, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
    this.flatMesh = new Mesh(this.flatCorners.geometry, new MeshBasicMaterial(ink));
    this.flatMesh.frustumCulled = false;
    this.flatWire = makeWire(this.flatCorners, "#000000", 0.3);
    this.flatMark = makeMark();
    this.flat.add(this.flatMesh, this.flatWire, this.flatMark);
    onClick(this.patternElement, (x, y) => this.pick(x, y, this.flatCamera, [this.flatMesh]));
  }

  dispose() {
    this.controls.dispose();
    this.flatControls.dispose();
    for (const one of [this.corners, this.flatCorners]) one.geometry.dispose();
    for (const one of [this.wire, this.flatWire, this.obstacles]) one.geometry.dispose();
    this.element.remove();
    this.patternElement.remove();
  }

  /** Show a frame. */
  show(frame) {
    const changed = this.frame?.mesh !== frame.mesh;
    this.frame = frame;
    const count = frame.mesh.corners.length;
    placeCorners(this.corners.array("position", count), frame.mesh, frame.x);
    if (changed) placePattern(this.flatCorners.array("position", count), frame.mesh);
    this.reshade();
    this.repaint();
    this.wire.refresh();
    this.flatWire.refresh();
    this.wire.material.opacity = Math.min(0.55, 8000 / frame.mesh.count); // a fine mesh would be all lines
    this.flatWire.material.opacity = Math.min(0.3, 800 / frame.mesh.count);
    this.showObstacles(frame.pose);
    this.corners.geometry.boundingSphere = this.corners.geometry.boundingBox = null;
    if (changed) this.flatCorners.geometry.boundingSphere = this.flatCorners.geometry.boundingBox = null;
    if (!this.fitted) this.fit();
    this.stage.draw();
  }

  reshade() {
    if (!this.frame) return;
    const position = this.corners.geometry.getAttribute("position").array;
    shade(this.corners.array("normal", position.length / 3), this.frame.mesh, position, this.stage.look.shading);
  }

  /** Colour the faces by the values of the frame, or leave them plain. */
  repaint() {
    if (!this.frame) return;
    const { mesh, values, field } = this.frame, { low, high } = this.stage.range;
    const colors = this.corners.array("color", mesh.corners.length);
    if (values) paint(colors, mesh, values, field.where, field.colormap, low, high);
    else colors.fill(1);
    this.flatCorners.geometry.setAttribute("color", this.corners.geometry.getAttribute("color"));
    this.dress(values ? "plain" : this.stage.look.dress);
    const theme = THEMES[this.stage.theme];
    if (this.dressed === "plain") {
      this.sides[0].material.color.set(values ? "#ffffff" : theme.front);
      this.sides[1].material.color.set(values ? "#ededed" : theme.back);
    }
    this.flatMesh.material.color.set(values ? "#ffffff" : theme.flat);
  }

  /** Let the sheets look like paper, foil, cloth, the user's own picture, or plain. */
  dress(name) {
    const { mesh } = this.frame, { picture } = this.stage.look, isOther = this.dressed !== name || this.printed !== picture;
    if (name !== "plain" && (isOther || this.patterned !== mesh)) this.placePrint(mesh);
    if (!isOther) return;
    this.dressed = name;
    this.printed = picture;
    const materials = this.sides.map((side) => side.material);
    if (name !== "plain") return dress(materials, name, this.printExtent, picture, this.stage.room);
    for (const material of materials) {
      material.map?.dispose();
      Object.assign(material, { map: null, envMap: null, roughness: 0.85, metalness: 0, needsUpdate: true });
    }
  }

  /** Where each corner is on the print: as in the pattern, from 0 to 1. */
  placePrint(mesh) {
    this.patterned = mesh;
    const { faces, pattern } = mesh, low = [Infinity, Infinity], high = [-Infinity, -Infinity], uv = new Float32Array(2 * faces.length);
    for (let k = 0; k < pattern.length; k++) {
      low[k % 2] = Math.min(low[k % 2], pattern[k]);
      high[k % 2] = Math.max(high[k % 2], pattern[k]);
    }
    this.printExtent = [0, 1].map((d) => Math.max(high[d] - low[d], 1e-9));
    for (let c = 0; c < faces.length; c++) for (let d = 0; d < 2; d++) uv[2 * c + d] = (pattern[2 * faces[c] + d] - low[d]) / this.printExtent[d];
    this.corners.geometry.setAttribute("uv", new BufferAttribute(uv, 2));
  }

  showObstacles(pose) {
    if (this.pose === pose) return;
    this.pose = pose;
    const { geometry } = this.obstacles;
    geometry.dispose();
    geometry.setAttribute("position", new BufferAttribute(pose.x, 3));
    geometry.setIndex(new BufferAttribute(pose.faces, 1));
    geometry.computeVertexNormals();
  }

  /** Take over what the user wants to see. */
  recolor() {
    const theme = THEMES[this.stage.theme], { look } = this.stage;
    this.world.background = this.flat.background = new Color(theme.ground);
    for (const wire of [this.wire, this.flatWire]) wire.material.color.set(theme.wire);
    this.obstacles.material.color.set(theme.obstacle);
    this.wire.visible = look.wireframe;
    this.obstacles.visible = look.obstacles;
    this.patternElement.hidden = !look.pattern;
    this.repaint();
    this.stage.draw();
  }

  /** Mark a face (-1: none). */
  select(face) {
    this.picked = face;
    if (!this.frame) return;
    this.mark.put(this.corners.geometry.getAttribute("position").array, face);
    this.flatMark.put(this.flatCorners.geometry.getAttribute("position").array, face);
    this.stage.draw();
  }

  pick(x, y, camera, meshes) {
    const hit = this.hit(x, y, camera, meshes);
    const face = hit ? Math.floor(hit.face.a / 3) : -1;
    this.stage.onPick(this, face, face < 0 ? null : middleOf(this.frame.mesh, face), hit && this.placeOf(face, hit, meshes));
  }

  /** The first of the meshes at a point of a pane, -1 to 1, that a ray through it meets, or undefined. */
  hit(x, y, camera = this.camera, meshes = this.sides) {
    if (!this.frame) return undefined;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), camera);
    return ray.intersectObjects(meshes, false).sort((a, b) => a.distance - b.distance)[0];
  }

  /** Where a hit is in the pattern, by the corners of its face. */
  placeOf(face, { point }, meshes) {
    const corners = meshes === this.sides ? this.corners : this.flatCorners, p = corners.geometry.getAttribute("position").array;
    return placeIn(this.frame.mesh, face, p.subarray(9 * face, 9 * face + 9), point.toArray());
  }

  /** Let the cameras see all sheets; `others`: frames whose sheets should be in view too. */
  fit(others = []) {
    if (!this.frame) return;
    const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), point = new Vector3();
    for (const { x } of [this.frame, ...others]) {
      for (let k = 0; k < x.length; k += 3) {
        point.fromArray(x, k);
        if (!Number.isFinite(point.x + point.y + point.z)) continue;
        low.min(point);
        high.max(point);
      }
    }
    if (!(low.x <= high.x)) return;
    const center = low.clone().add(high).multiplyScalar(0.5), radius = Math.max(high.distanceTo(low) / 2, 1e-6);
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect);
    const way = new Vector3(-0.55, -1.0, 0.62).normalize();
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(way, (1.12 * radius) / half);
    this.camera.near = radius / 200;
    this.camera.far = radius * 400;
    this.size = radius;
    this.controls.update();
    this.fitPattern();
    this.fitted = true;
    this.stage.draw();
  }

  fitPattern() {
    const { pattern } = this.frame.mesh;
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let k = 0; k < pattern.length; k += 2) {
      left = Math.min(left, pattern[k]);
      right = Math.max(right, pattern[k]);
      bottom = Math.min(bottom, pattern[k + 1]);
      top = Math.max(top, pattern[k + 1]);
    }
    this.extent = [Math.max(right - left, 1e-9), Math.max(top - bottom, 1e-9)];
    this.flatControls.target.set((left + right) / 2, (bottom + top) / 2, 0);
    this.flatCamera.position.set((left + right) / 2, (bottom + top) / 2, 1);
    this.flatCamera.zoom = 1;
    this.flatControls.update();
  }

  /** Look at one's own sheets as `other` looks at its own. */
  follow(other) {
    const scale = this.size / other.size;
    const offset = other.camera.position.clone().sub(other.controls.target).multiplyScalar(scale);
    this.camera.position.copy(this.controls.target).add(offset);
    this.camera.lookAt(this.controls.target);
  }
}

/** The canvas and its panes. */
export class Stage {
  constructor(canvas, panes, onPick) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.setScissorTest(true);
    Object.assign(this, { canvas, panes, onPick, onDisplay: () => {}, onMoved: () => {} });
    this.displays = [];
    this.look = { wireframe: false, obstacles: true, pattern: true, linked: true, shading: 40, dress: "plain", picture: null };
    this.room = makeRoom(this.renderer);
    this.range = { low: 0, high: 1 };
    this.theme = "light";
    this.drawn = 0;
    this.pending = false;
    new ResizeObserver(() => this.draw()).observe(panes);
  }

  /** Show these runs, keeping displays that are there already. */
  arrange(runs) {
    for (const display of this.displays) if (!runs.includes(display.run)) display.dispose();
    this.displays = runs.map((run) => this.displays.find((one) => one.run === run) ?? this.make(run));
    const columns = this.displays.length > 2 ? Math.ceil(Math.sqrt(this.displays.length)) : this.displays.length;
    const pattern = this.look.pattern;
    this.panes.replaceChildren();
    this.panes.style.gridTemplateColumns = pattern
      ? `repeat(${columns}, minmax(0, 2fr) minmax(0, 1fr))`
      : `repeat(${Math.max(columns, 1)}, minmax(0, 1fr))`;
    this.panes.style.gridAutoRows = "minmax(0, 1fr)";
    for (const display of this.displays) {
      this.panes.append(display.element);
      if (pattern) this.panes.append(display.patternElement);
    }
    this.refresh();
  }

  make(run) {
    const display = new Display(this, run);
    display.controls.addEventListener("start", () => (display.wasMoved = true));
    this.onDisplay(display);
    return display;
  }

  refresh() {
    for (const display of this.displays) {
      this.label(display);
      display.recolor();
    }
    this.draw();
  }

  /** What a pane says: whose it is, where there are several, and why it cannot show its frame. */
  label(display, trouble = "") {
    const name = this.displays.length > 1 ? display.run.name : "";
    display.element.firstChild.textContent = [name, trouble].filter(Boolean).join(": ");
  }

  /** A camera moved; linked ones go with it. */
  moved(display) {
    if (this.look.linked && this.displays.every((one) => one.fitted)) {
      for (const other of this.displays) if (other !== display) other.follow(display);
    }
    this.onMoved();
    this.draw();
  }

  /** Draw once, at the next occasion. */
  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }

  drawNow() {
    const whole = this.canvas.getBoundingClientRect();
    if (!whole.width || !whole.height) return;
    this.renderer.setPixelRatio(window.devicePixelRatio);
    this.renderer.setSize(whole.width, whole.height, false);
    for (const display of this.displays) {
      this.drawPane(display.element, whole, display.world, display.camera, (width, height) => {
        display.camera.aspect = width / height;
      });
      if (this.look.pattern) {
        this.drawPane(display.patternElement, whole, display.flat, display.flatCamera, (width, height) => {
          const [w, h] = display.extent ?? [1, 1], half = 0.56 * Math.max(w, (h * width) / height);
          Object.assign(display.flatCamera, { left: -half, right: half, top: (half * height) / width, bottom: (-half * height) / width });
        });
      }
    }
    this.drawn++;
  }

  drawPane(element, whole, scene, camera, adapt) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) return;
    adapt(box.width, box.height);
    camera.updateProjectionMatrix();
    const place = [box.left - whole.left, whole.bottom - box.bottom, box.width, box.height];
    this.renderer.setViewport(...place);
    this.renderer.setScissor(...place);
    this.renderer.render(scene, camera);
  }
}
