// Questions about who imports whom, type imports included.

/** @typedef {import('./source.mjs').Project} Project */
/** @typedef {import('./source.mjs').Import} Import */
/** @typedef {{ path: string, via: Import }} Step one import on a way through the project */

/**
 * Every import that can be reached from a file, with the way to it.
 * @param {Project} project
 * @param {string} start
 * @param {(link: Import) => string[]} follow which files an import leads to
 * @returns {Generator<Step[]>} the way: the last step is the import itself
 */
export function* reach(project, start, follow = (link) => link.files) {
  const seen = new Set([start]);
  /** @type {{ path: string, way: Step[] }[]} */
  const queue = [{ path: start, way: [] }];
  for (const { path, way } of queue) {
    for (const via of project.sources.get(path)?.imports ?? []) {
      const next = [...way, { path, via }];
      yield next;
      for (const file of follow(via)) {
        if (seen.has(file)) continue;
        seen.add(file);
        queue.push({ path: file, way: next });
      }
    }
  }
}

/**
 * The shortest cycle through each group of files that import one another, once per group.
 * @param {Project} project
 * @returns {Step[][]}
 */
export function cycles(project) {
  /** @type {Step[][]} */
  const found = [];
  const told = new Set();
  for (const start of [...project.sources.keys()].sort()) {
    if (told.has(start)) continue;
    for (const way of reach(project, start)) {
      if (!way.at(-1)?.via.files.includes(start)) continue;
      for (const { path } of way) told.add(path);
      found.push(way);
      break;
    }
  }
  return found;
}
