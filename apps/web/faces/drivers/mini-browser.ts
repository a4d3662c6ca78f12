import { existsSync, readdirSync } from 'node:fs';

/** Returns the path of the browser that belongs to the driver, or undefined. */
export function miniBrowser(): string | undefined {
  const roots = ['/usr/lib', '/usr/libexec'].filter((root) => existsSync(root));
  const folders = roots.flatMap((root) => [root, ...readdirSync(root).map((name) => `${root}/${name}`)]);
  const versions = ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'];
  return folders
    .flatMap((folder) => versions.map((version) => `${folder}/${version}/MiniBrowser`))
    .find((path) => existsSync(path));
}
