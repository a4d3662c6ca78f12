// The rules of the house that the linter cannot hold. Each takes the project and the whole of house.json and
// gives its violations; `mend` says what to do about one.
import { posix } from 'node:path';
import { entriesOf, isDocumented, publishedPackages } from './exports.mjs';
import { cycles, reach } from './graph.mjs';
import { globalUses, wordUses } from './names.mjs';
import { entryFile, lineAt } from './source.mjs';

/**
 * @typedef {import('./source.mjs').Project} Project
 * @typedef {import('./source.mjs').Source} Source
 * @typedef {import('./graph.mjs').Step} Step
 * @typedef {{ path: string, line: number, rule: string, what: string, mend: string }} Violation
 * @typedef {typeof import('../house.json')} House
 * @typedef {(project: Project, house: House) => Iterable<Violation>} Rule
 */

/** @type {Rule} */
function* packageDirection({ sources }, house) {
  const rule = 'package direction';
  for (const { path, owner, imports } of sources.values()) {
    if (!owner) continue;
    const allowed = rulesOf(house, owner.name);
    if (!allowed) {
      const mend = 'Say in scripts/house.json under "packages" what it may import.';
      yield { path, line: 1, rule, what: `package ${owner.name} has no rule`, mend };
      continue;
    }
    const inTest = path.startsWith(`${owner.folder}/test/`);
    for (const { specifier, line, files } of imports) {
      if (specifier.startsWith('.') && files.some((file) => !file.startsWith(`${owner.folder}/`))) {
        yield {
          path,
          line,
          rule,
          what: `${specifier} leaves the package`,
          mend: 'Import the package by its name.',
        };
      }
      const name = packageOf(specifier);
      if (!name || name === owner.name || allowed.mayImport.includes(name)) continue;
      if (inTest && allowed.testsMayImport.includes(specifier)) continue;
      const list = (
        inTest && allowed.testsMayImport.length > 0 ? allowed.testsMayImport : allowed.mayImport
      ).join(', ');
      const mend = `It may import ${list || 'no other package'}; move what both need into @cobbler/agent, or let an app join them.`;
      yield { path, line, rule, what: `${owner.name} must not import ${specifier}`, mend };
    }
  }
}

/** @type {Rule} */
function* declaredDependencies({ sources }, { bundled }) {
  for (const { path, owner, imports } of sources.values()) {
    if (!owner || !path.startsWith(`${owner.folder}/src/`)) continue;
    const { dependencies, devDependencies, peerDependencies, optionalDependencies } = owner.manifest;
    const declared = {
      ...dependencies,
      ...peerDependencies,
      ...optionalDependencies,
      // What its build takes in, nobody has to install.
      ...(bundled.includes(owner.name) && devDependencies),
    };
    for (const { specifier, line, external } of imports) {
      const name = external ?? packageOf(specifier);
      // What a runtime brings along ends with a colon.
      if (!name || name.endsWith(':') || name === owner.name || name in declared) continue;
      yield {
        path,
        line,
        rule: 'declared dependencies',
        what: `${name} is not a dependency of ${owner.name}`,
        mend: `Add it to ${owner.folder}/package.json, or do without it.`,
      };
    }
  }
}

/** @type {Rule} */
function* layers({ sources }, { layers }) {
  for (const room of layers) yield* layersOf(sources, room);
}

/** @returns {Iterable<Violation>} */
function* layersOf(sources, { folder, bottomFirst }) {
  const rule = 'layers';
  /** @param {string} path */
  const rank = (path) => {
    const name = path.slice(folder.length + 1);
    return bottomFirst.findIndex(
      (entry) => entry === name || (entry.endsWith('/') && name.startsWith(entry)),
    );
  };
  for (const { path, imports } of sources.values()) {
    if (!path.startsWith(`${folder}/`)) continue;
    const own = rank(path);
    if (own < 0) {
      const mend = 'Put it in scripts/house.json under "layers", above all that it imports.';
      yield { path, line: 1, rule, what: 'the file has no layer', mend };
      continue;
    }
    for (const { specifier, line, files } of imports) {
      // A `#name` is chosen from outside: the lower file does not know the upper one.
      if (specifier.startsWith('#')) continue;
      for (const file of files.filter((one) => one.startsWith(`${folder}/`) && rank(one) > own)) {
        const what = `${posix.basename(path)} imports ${file.slice(folder.length + 1)}, which lies above it`;
        const mend = 'Move what it needs down, or pass it in; the order stands in scripts/house.json.';
        yield { path, line, rule, what, mend };
      }
    }
  }
}

/** @type {Rule} */
function* purity(project, { pure }) {
  const rule = 'purity';
  for (const { file, maxLines, neverReaches } of pure) {
    const source = project.sources.get(file);
    if (!source) continue;
    const lines = lineCount(source.text);
    if (lines > maxLines) {
      const what = `${lines} lines; it has to fit one screen (${maxLines})`;
      yield { path: file, line: maxLines + 1, rule, what, mend: 'Move questions into files of their own.' };
    }
    for (const match of blank(source).matchAll(/\b(async|await)\b/g)) {
      const mend = 'Return what to do next and let perform.ts do it.';
      yield { path: file, line: lineAt(source.text, match.index), rule, what: `uses ${match[0]}`, mend };
    }
    for (const way of reach(project, file)) {
      for (const target of way.at(-1)?.via.files.filter((one) => neverReaches.includes(one)) ?? []) {
        const mend = 'It decides from the state alone: pass in what it needs as data.';
        yield { ...place(way), rule, what: `${posix.basename(file)} reaches ${target}${through(way)}`, mend };
      }
    }
  }
}

/** @type {Rule} */
function* importCycles(project) {
  for (const way of cycles(project)) {
    const ring = [...way.map((step) => step.path), way[0]?.path].join(' -> ');
    const mend = 'Move what both need into a file below them; a type import counts.';
    yield { ...place(way), rule: 'import cycle', what: ring, mend };
  }
}

/** @type {Rule} */
function* fileLength({ sources }, { maxLines, tables }) {
  for (const { path, text } of sources.values()) {
    const lines = lineCount(text);
    if (lines <= maxLines || path in tables) continue;
    const what = `${lines} lines, more than ${maxLines}`;
    const mend =
      'Give each of its nouns a file; a pure table may be named in scripts/house.json under "tables".';
    yield { path, line: maxLines + 1, rule: 'file length', what, mend };
  }
}

/** @type {Rule} */
function* fileNames({ sources }, { forbiddenNames }) {
  for (const { path } of sources.values()) {
    const words = path.toLowerCase().split(/[/.-]/);
    const word = forbiddenNames.find((name) => words.includes(name));
    if (!word || !path.includes('/src/')) continue;
    yield {
      path,
      line: 1,
      rule: 'file names',
      what: `"${word}" names no noun`,
      mend: 'Name the file after what it holds.',
    };
  }
}

/** @type {Rule} */
function* runsAnywhere(project, { runsAnywhere: { package: name, entries, dependencies } }) {
  const target = project.packages.find((one) => one.name === name);
  for (const entry of entries) {
    const start = target && entryFile(target, entry);
    if (!start) continue;
    for (const way of reach(project, start, (link) => (link.anywhere ? [link.anywhere] : []))) {
      const { external, specifier } = way.at(-1)?.via ?? {};
      if (!external || dependencies.includes(external)) continue;
      const mend =
        'That entry runs in every runtime: move the import into ./node, or take the effect from Runtime.';
      const what = `${specifier} is reachable from the entry ${entry} of ${name}${through(way)}`;
      yield { ...place(way), rule: 'runs anywhere', what, mend };
    }
  }
}

/** @type {Rule} */
function* portable(project, { portable: { files, neverReaches, dependencies } }) {
  const mend = 'The turn is the same on every machine: take it as one of its parts.';
  for (const start of files) {
    for (const way of reach(project, start, (link) => (link.anywhere ? [link.anywhere] : []))) {
      const { external, specifier = '', files: targets = [] } = way.at(-1)?.via ?? {};
      const isBound = targets.some((file) => neverReaches.some((folder) => file.startsWith(folder)));
      if (!isBound && (!external || dependencies.includes(external))) continue;
      const what = `${posix.basename(start)} reaches ${specifier}${through(way)}`;
      yield { ...place(way), rule: 'portable', what, mend };
    }
  }
}

/** @type {Rule} */
function* testingEntries(project, { testingEntries: { entry, neverReach } }) {
  for (const target of project.packages) {
    const start = entryFile(target, entry);
    if (!start) continue;
    for (const way of reach(project, start)) {
      const { external } = way.at(-1)?.via ?? {};
      if (!external || !neverReach.includes(external)) continue;
      const mend = 'Handlers there are plain (Request) => Response functions; wrap them where the tests are.';
      yield {
        ...place(way),
        rule: 'testing entries',
        what: `${target.name}/testing reaches ${external}${through(way)}`,
        mend,
      };
    }
  }
}

/** @type {Rule} */
function* effects({ sources }, { effects: areas }) {
  const mend = 'Take it from the injected Runtime.';
  for (const { folders, except, globals, members } of areas) {
    for (const source of sources.values()) {
      if (!folders.some((folder) => within(source.path, folder, except))) continue;
      for (const { name, line } of globalUses(source, new Set(globals), new Set(members))) {
        yield { path: source.path, line, rule: 'effects', what: `uses the global ${name}`, mend };
      }
    }
  }
}

/** @type {Rule} */
function* vendorNames({ sources }, { vendorNames: { folder, except, words } }) {
  const pattern = new RegExp(words.join('|'), 'i');
  const mend = 'The core knows no provider: let the provider tell it as data.';
  for (const source of sources.values()) {
    if (!within(source.path, folder, except)) continue;
    if (pattern.test(source.path)) {
      yield { path: source.path, line: 1, rule: 'vendor names', what: 'the file name holds a vendor', mend };
    }
    for (const { name, line } of wordUses(source, pattern)) {
      const what = `"${name.trim().slice(0, 60)}" holds a vendor's name`;
      yield { path: source.path, line, rule: 'vendor names', what, mend };
    }
  }
}

/** @type {Rule} */
function* unfinished({ sources }) {
  for (const { path, text, comments } of sources.values()) {
    for (const { value, start } of comments) {
      const mark = /\b(TODO|FIXME|XXX|HACK)\b/.exec(value)?.[0];
      if (!mark || path.startsWith('scripts/')) continue;
      const mend = 'Finish it, or leave it out.';
      yield {
        path,
        line: lineAt(text, start),
        rule: 'unfinished work',
        what: `a comment says ${mark}`,
        mend,
      };
    }
  }
}

/** @type {Rule} */
function* documentedExports(project) {
  for (const target of publishedPackages(project)) {
    for (const { specifier, names } of entriesOf(project, target)) {
      for (const { name, source, statements } of names) {
        const [first] = statements;
        if (!source || !first || statements.some((statement) => isDocumented(source, statement))) continue;
        yield {
          path: source.path,
          line: lineAt(source.text, first.start),
          rule: 'documented exports',
          what: `${name} of ${specifier} has no doc comment`,
          mend: 'Say above it what it means, its units, and what it throws.',
        };
      }
    }
  }
}

/** @type {Rule[]} */
export const RULES = [
  packageDirection,
  declaredDependencies,
  layers,
  purity,
  importCycles,
  fileLength,
  fileNames,
  runsAnywhere,
  portable,
  testingEntries,
  effects,
  vendorNames,
  documentedExports,
  unfinished,
];

/**
 * What holds for a package: what is said of it by name, or else of its kind, such as `@cobbler/provider-*`.
 * @param {House} house
 * @param {string} name
 * @returns {{ mayImport: string[], testsMayImport: string[] } | undefined}
 */
function rulesOf({ packages }, name) {
  const rules = Object.entries(packages);
  const own = rules.find(([key]) => key === name);
  return (own ?? rules.find(([key]) => starred(key).exec(name)?.[0] === name))?.[1];
}

/**
 * The workspace package that a specifier names.
 * @param {string} specifier
 */
function packageOf(specifier) {
  return /^@cobbler\/[^/]+/.exec(specifier)?.[0];
}

/** @param {string} text */
function lineCount(text) {
  return text.replace(/\n$/, '').split('\n').length;
}

/**
 * The text with its comments blanked out, in place.
 * @param {Source} source
 */
function blank({ text, comments }) {
  let code = text;
  for (const { start, end } of comments) {
    code = code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, ' ') + code.slice(end);
  }
  return code;
}

/**
 * What begins like this, where a star stands for any name.
 * @param {string} path
 */
function starred(path) {
  return new RegExp(`^${path.replaceAll('*', '[^/]+')}`);
}

/**
 * @param {string} path
 * @param {string} folder a star in it stands for any name
 * @param {string[]} except files, or folders with a slash at the end
 */
function within(path, folder, except) {
  if (!starred(`${folder}/`).test(path)) return false;
  return !except.some((one) => path === one || (one.endsWith('/') && path.startsWith(one)));
}

/**
 * Where a way through the project ends: the import to change.
 * @param {Step[]} way
 */
function place(way) {
  const last = way.at(-1);
  return { path: last?.path ?? '', line: last?.via.line ?? 1 };
}

/** @param {Step[]} way */
function through(way) {
  return way.length > 1 ? ` (${way.map((step) => step.path).join(' -> ')})` : '';
}
