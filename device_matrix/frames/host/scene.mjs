// A small three.js scene on a device of the page's: moving ground, shadows of a few hundred boxes, fog.

import * as THREE from "three/webgpu";

const BOXES = 200;
const GROUND = 96;

/** Returns `render(seconds)`. */
export async function createScene(canvas, device) {
  const renderer = new THREE.WebGPURenderer({ canvas, device, antialias: false });
  renderer.setPixelRatio(1);
  renderer.setSize(canvas.width, canvas.height, false);
  await renderer.init();
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0x9fc4e8);
  scene.fog = new THREE.Fog(0x9fc4e8, 20, 70);
  const sun = new THREE.DirectionalLight(0xffffff, 2.5);
  sun.position.set(4, 8, 2);
  scene.add(sun, new THREE.HemisphereLight(0xbcd8ff, 0x40402a, 1));

  const geometry = new THREE.PlaneGeometry(80, 80, GROUND, GROUND).rotateX(-Math.PI / 2);
  const at = geometry.attributes.position;
  for (let i = 0; i < at.count; i += 1) {
    at.setY(i, Math.sin(at.getX(i) * 0.4) + Math.cos(at.getZ(i) * 0.3) * 1.5);
  }
  geometry.computeVertexNormals();
  scene.add(new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0x5b7f4b })));

  const boxes = new THREE.InstancedMesh(
    new THREE.BoxGeometry(0.6, 0.6, 0.6),
    new THREE.MeshStandardMaterial({ color: 0xc98b4b }),
    BOXES,
  );
  scene.add(boxes);
  const camera = new THREE.PerspectiveCamera(60, canvas.width / canvas.height, 0.1, 100);
  const matrix = new THREE.Matrix4();
  return (seconds) => {
    camera.position.set(Math.sin(seconds * 0.2) * 12, 6, Math.cos(seconds * 0.2) * 12);
    camera.lookAt(0, 1, 0);
    for (let i = 0; i < BOXES; i += 1) {
      const angle = i * 2.4 + seconds * 0.5;
      const radius = 1 + i * 0.12;
      matrix.makeRotationY(angle * 2);
      matrix.setPosition(Math.cos(angle) * radius, 3 + Math.sin(seconds + i), Math.sin(angle) * radius);
      boxes.setMatrixAt(i, matrix);
    }
    boxes.instanceMatrix.needsUpdate = true;
    renderer.render(scene, camera);
  };
}
