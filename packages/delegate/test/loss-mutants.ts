import type { Mutant } from './mutant.ts';

const claude = 'src/claude/claude-stream.ts';
const codex = 'src/codex/codex-stream.ts';
const server = 'src/codex/app-server.ts';
const byLosses = 'test/losses.slow.test.ts';
const byFields = 'test/changed-lines.slow.test.ts';

/** Bugs that lose a part of a program's output. */
export const lossMutants: readonly Mutant[] = [
  {
    file: claude,
    find: "if (!Array.isArray(content)) return 'the content of a response is not a list';",
    replace: 'if (!Array.isArray(content)) return undefined;',
    why: 'Claude Code: content that is not a list is read as no content',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: claude,
    find: 'if (wrong !== undefined) return `a block of type ${String(type)} has no valid ${wrong}`;',
    replace: '',
    why: 'Claude Code: a call whose arguments have another name is shown without arguments',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: claude,
    find: "if (!isReadable(block)) return 'the result of a call cannot be read';",
    replace: '',
    why: 'Claude Code: an output that is not text is read as an empty one',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: claude,
    find: 'return known ? [] : [malformedEnd(claudeName, `a message belongs to the unknown call ${call}`)];',
    replace: 'return known ? [] : [];',
    why: 'Claude Code: a message of an unknown subagent is skipped',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: codex,
    find: "if (!isReadable(item, isOver)) return 'an item cannot be read';",
    replace: '',
    why: 'Codex: a text or an output of another type is read as empty',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: codex,
    find: "if (type === '') return [malformedEnd(codexName, 'an item has no type')];",
    replace: '',
    why: 'Codex: an item without a type is skipped',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: server,
    find: "return [malformedEnd(codexName, 'a message has no method')];",
    replace: 'return [];',
    why: 'app server: a message without a method is skipped',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: 'src/events/garbled.ts',
    find: "? [malformedEnd(provider, 'a message is not valid JSON')] : [];",
    replace: '? [] : [];',
    why: 'a message that was cut is skipped',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: 'src/cli/line-reader.ts',
    find: '{ fatal: true }',
    replace: '{ fatal: false }',
    why: 'characters that are not UTF-8 are replaced',
    breaks: ['P27'],
    by: byFields,
  },
  {
    file: claude,
    find: "if (!isSame) return 'a complete block differs from the stream';",
    replace: '',
    why: 'Claude Code: a text that differs from its chunks is accepted as the response',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: claude,
    find: 'if (!this.#calls.has(id)) return `call ${id} has a result but was never reported`;',
    replace: '',
    why: 'Claude Code: a call whose message was lost is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: codex,
    find: 'if (number > this.#next) return `item_${this.#next} is missing`;',
    replace: '',
    why: 'Codex: a lost message is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: server,
    find: "return problem === undefined ? { type: 'end', ok: true } : malformedEnd(codexName, problem);",
    replace: "return { type: 'end', ok: true };",
    why: 'app server: an item that never ended is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
];
