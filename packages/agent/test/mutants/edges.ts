import type { Mutant } from './mutant.ts';

const schema = 'src/schema.ts';
const context = 'src/context.ts';
const compaction = 'src/compaction.ts';
const config = 'src/config.ts';

/** Mistakes where the core meets what it does not control: arguments, keys, people, files, other programs. */
export const edgeMutants: readonly Mutant[] = [
  {
    file: schema,
    find: 'if (types.some((name) => isType(name, value))) return undefined;',
    replace: 'if (types.length > 0) return undefined;',
    why: 'arguments of any type are taken',
    breaks: ['P9'],
    by: 'test/schema.test.ts',
  },
  {
    file: schema,
    find: "if (typeof name === 'string' && !Object.hasOwn(value, name))",
    replace: "if (typeof name === 'string' && !(name in value))",
    why: 'an argument that every object inherits counts as given',
    breaks: ['P11'],
    by: 'test/schema.test.ts',
  },
  {
    file: schema,
    find: 'const fitsAny = list(',
    replace:
      "const fitsAny = list('anyOf').some((part) => check(part, value, deeper) === undefined) || list(",
    why: 'each level of a nested schema is checked twice, and deep ones take for ever',
    breaks: ['P11'],
    by: 'test/schema.test.ts',
  },
  {
    file: context,
    find: 'Math.ceil(bytes / 2)',
    replace: 'Math.ceil(bytes / 8)',
    why: 'less is held back for a request than it may weigh',
    breaks: ['B1'],
    by: 'test/context.test.ts',
  },
  {
    file: context,
    find: 'if (seen === 0 || state.turns === 0) {',
    replace: 'if (seen === 0) {',
    why: 'the tools of a new run are taken for those that were counted',
    breaks: ['B1'],
    by: 'test/context.test.ts',
  },
  {
    file: compaction,
    find: 'if (older.every(isSummary)) return undefined;',
    replace: '',
    why: 'a summary is wrapped in another one again and again',
    breaks: [],
    by: 'test/compaction.test.ts',
  },
  {
    file: compaction,
    find: 'if (means.signal.aborted || index ===',
    replace: 'if (index ===',
    why: 'the next way to make a conversation smaller is tried after a cancel',
    breaks: ['P3'],
    by: 'test/compaction.test.ts',
  },
  {
    file: 'src/summary.ts',
    find: "stopReason !== 'complete'",
    replace: "stopReason === 'tool_use'",
    why: 'half a summary stands for what it sums up',
    breaks: ['P1', 'P14'],
    by: 'test/summary.test.ts',
  },
  {
    file: 'src/usage.ts',
    find: 'if (left.estimated || right.estimated) sum.estimated = true;',
    replace: '',
    why: 'what was reckoned passes for what was counted',
    breaks: ['P14'],
    by: 'test/usage.test.ts',
  },
  {
    file: 'src/approvals.ts',
    find: 'if (this.#taken.has(approvalId)) return false;',
    replace: '',
    why: 'a second answer to one question counts',
    breaks: ['P21'],
    by: 'executor: gate',
  },
  {
    file: 'src/errors.ts',
    find: 'message: clip(text, 2000),\n        ...(code',
    replace: 'message: clip(text, 2000),\n        ...value,\n        ...(code',
    why: 'whatever an error carries is kept with its cause',
    breaks: ['P19'],
    by: 'test/errors.test.ts',
  },
  {
    file: config,
    find: 'const shared = provider === configured ?',
    replace: "const shared = provider !== '' ?",
    why: 'the key of one provider is given to another',
    breaks: ['P19'],
    by: 'test/config.test.ts',
  },
  {
    file: 'src/cassette/redaction.ts',
    find: "if (typeof value === 'string') return this.#scrubber.text(value);",
    replace: "if (typeof value === 'string') return value;",
    why: 'a recording holds the key',
    breaks: ['P19'],
    by: 'test/cassette-secret.test.ts',
  },
  {
    file: 'src/node/child-environment.ts',
    find: '/^LC_[A-Z]+$/.test(name)',
    replace: '/^[A-Z_]+$/.test(name)',
    why: 'every variable goes to other programs',
    breaks: ['P19'],
    by: 'test/node-process-tree.test.ts',
  },
  {
    file: 'src/node/real-path.ts',
    find: 'if (!this.#contains(base)) throw outside(path);',
    replace: '',
    why: 'a link may lead out of the workspace',
    breaks: ['P21'],
    by: 'test/node-real-path.test.ts',
  },
  {
    file: 'src/node/process-tree.ts',
    find: 'if (members.some((entry) => entry.group === root)) this.#kill(-root, signal);',
    replace: '',
    why: 'the children of a program that was stopped go on',
    breaks: ['P3'],
    by: 'test/node-process-tree.test.ts',
  },
];
