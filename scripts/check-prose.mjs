// Checks the wording of the documents and of the strings in the product. Run by `npm run check`. Each row of the
// table is a pattern and its replacement. `scripts/prose.json` contains the number of matches that an area may still
// have; `--write` lowers these numbers to the current counts and never raises one.
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

/** @typedef {{ path: string, line: number, words: string, instead: string }} Match */

/** @type {[pattern: RegExp, instead: string][]} */
const TABLE = [
  [/(?<!there )\b(is|are|was|were) none\b/gi, '"there is no ...", "does not have ..." or "is missing"'],
  [
    /(?<!there )\b(is|are|was|were) no (?!longer|more|less|need|way|one|such|limit|different|point)[a-z]+/gi,
    '"is not a ..." or "there is no ..."',
  ],
  [/\b(go|goes|going|gone|went) on\b/gi, '"continue", "resume" or "happen"'],
  [/\bmend(s|ed|ing)?\b/gi, '"repair" or "fix"'],
  [/\b(whoever|whomever)\b/gi, 'the actor: user, caller, operator, client'],
  [/\b(some|no|every)body\b/gi, 'the actor, or "no user"'],
  [/\bunder way\b/gi, '"running" or "in progress"'],
  [/\b(take|takes|taken|took|taking) (it |them |a (session|run) )?up\b/gi, '"resume" or "take over"'],
  [/\b(come|comes|came|become|becomes|became) of\b/gi, '"result", "happens to"'],
  [
    /\b(is|are|was|were|be) told\b|\btold (of|so|otherwise|all|to)\b/gi,
    '"receives", "is notified" or "is shown"',
  ],
  [/\b(hear|hears|heard)\b/gi, '"receive", "observe" or "read"'],
  [/\bstands? (in|at|on|behind|before|there|here|under)\b/gi, '"is in", "follows" or "precedes"'],
  [/\bby (itself|themselves)\b/gi, '"automatically", "on its own", or nothing'],
  [
    /\b(is|are|was|were|be|been) (looked at|waited for|heard of|listened at|seen to|passed over|taken back|given back|put away|worked on|let in)\b/gi,
    'one active verb: "checks", "awaits", "ignores", "undoes", "returns"',
  ],
  [/(?<!not )\bso (many|often|much|long)\b(?! (that|as|ago))/gi, 'the exact number, limit or time'],
  [
    /\b(heed|spoil|spoilt|lest|ought|shall|hence|mighty|for ever|as yet|reckon\w*)\b/gi,
    'a current word: "follow", "corrupt", "must", "so", "forever", "not yet", "estimate"',
  ],
  [
    /\b(begun|any more|at work|strangers?|pictures?)\b/gi,
    '"started", "any longer", "running", "unauthorized user", "image"',
  ],
];

const DOCUMENTS = [
  '*.md',
  'llms.txt',
  'docs/**/*.md',
  '{packages,apps}/*/README.md',
  '{examples,bench}/*.md',
  'site/*.md',
];
const SOURCES = ['{packages,apps}/*/src/**/*.{ts,tsx}', 'site/{src,.vitepress}/**/*.ts'];
/** Maximum number of matches to print per area; those in recently changed files come first. */
const MAX_PRINTED = 20;
/** Files to skip: text of a fake user or model, text of other programs, and lists of words. */
const EXEMPT = /(^|\/)(fixtures|demo)\/|^CHANGELOG\.md$|^packages\/assistant\/src\/memory\/words\.ts$/;

/**
 * @param {string} path
 * @param {string} text
 * @returns {{ start: number, text: string }[]} strings, templates and JSX text of two or more words
 */
function stringsOf(path, text) {
  /** @type {{ start: number, text: string }[]} */
  const found = [];
  /** @param {any} node */
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const value = node.type === 'TemplateElement' ? node.value.cooked : node.value;
    const isText = node.type === 'Literal' || node.type === 'TemplateElement' || node.type === 'JSXText';
    if (isText && typeof value === 'string' && /\S\s+\S/.test(value))
      found.push({ start: node.start, text: value });
    Object.values(node).forEach(visit);
  };
  visit(parseSync(path, text).program);
  return found;
}

/**
 * Blanks single words in backticks: a document may mention a word without using it itself.
 * @param {string} text
 */
const withoutTerms = (text) => text.replace(/`[^`\s]+`/g, (term) => '`'.repeat(term.length));

/**
 * @param {string} root
 * @param {Record<string, number>} allowed matches per area: a file, or a directory with a trailing slash
 * @returns {{ counts: Map<string, number>, failed: Map<string, Match[]> }} `failed` contains the areas above the
 * allowed number
 */
export function checkProse(root, allowed) {
  /** @type {Map<string, Match[]>} */
  const areas = new Map();
  for (const path of globSync([...DOCUMENTS, ...SOURCES], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()) {
    if (EXEMPT.test(path)) continue;
    const text = readFileSync(join(root, path), 'utf8');
    const area =
      Object.keys(allowed).find((key) => key === path || (key.endsWith('/') && path.startsWith(key))) ?? path;
    for (const part of /\.tsx?$/.test(path)
      ? stringsOf(path, text)
      : [{ start: 0, text: withoutTerms(text) }])
      for (const [pattern, instead] of TABLE)
        for (const { 0: words, index } of part.text.replaceAll('\n', ' ').matchAll(pattern)) {
          const line =
            text.slice(0, part.start).split('\n').length + part.text.slice(0, index).split('\n').length - 1;
          areas.set(area, [...(areas.get(area) ?? []), { path, line, words, instead }]);
        }
  }
  const counts = new Map([...areas].map(([area, matches]) => [area, matches.length]));
  return {
    counts,
    failed: new Map([...areas].filter(([area, { length }]) => length > (allowed[area] ?? 0))),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const file = join(root, 'scripts/prose.json');
  /** @type {Record<string, number>} */
  const allowed = JSON.parse(readFileSync(file, 'utf8'));
  const { counts, failed } = checkProse(root, allowed);
  for (const [area, matches] of failed) {
    process.stdout.write(`${area}: ${matches.length} matches, ${allowed[area] ?? 0} allowed\n`);
    /** @param {Match} match */
    const writtenAt = ({ path }) => statSync(join(root, path)).mtimeMs;
    const newest = matches.toSorted((left, right) => writtenAt(right) - writtenAt(left));
    for (const { path, line, words, instead } of newest.slice(0, MAX_PRINTED))
      process.stdout.write(`${path}:${line}  prose: "${words}". Write ${instead}.\n`);
  }
  if (failed.size > 0) process.exitCode = 1;
  const left = Object.entries(allowed).map(([area, count]) => [area, Math.min(count, counts.get(area) ?? 0)]);
  const lowered = Object.fromEntries(left.filter(([, count]) => count !== 0));
  if (process.argv.includes('--write')) writeFileSync(file, `${JSON.stringify(lowered, undefined, 2)}\n`);
}
