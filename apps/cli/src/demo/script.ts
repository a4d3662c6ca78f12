import type { ReadPart, ReadRequest, ScriptAnswer, ScriptBlock } from '@cobbler/agent/testing';

/** The name of the scripted model, in requests and on the screen. */
export const scriptedModel = 'claude-scripted';

/** The one bug that the script knows, and its fix. */
const bug = 'cents += prices[job.kind];';
const repair = 'cents += prices[job.kind] * job.count;';

const testCommand = 'node --test';

interface FinishedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** The next step of the script: a text, with tool calls unless it is the last step. */
interface DemoStep {
  readonly text: string;
  readonly calls?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
}

/**
 * Returns the next response of the scripted model, a pure function of the history, like a real model. It looks
 * around, runs the tests, reads the failures, fixes the one bug it knows, and runs the tests again. If the tools
 * return something unexpected, it says so.
 */
export function scriptedAnswer(request: ReadRequest): ScriptAnswer {
  const { turns } = request;
  // A prompt after the end restarts the script, with the current files.
  const lastWord = turns.findLastIndex(
    ({ side, parts }) => side === 'assistant' && !parts.some(({ type }) => type === 'call'),
  );
  const done = doneCalls(turns.slice(lastWord + 1));
  const earlier = doneCalls(turns).length - done.length;
  const { text, calls = [] } = nextMove(done);
  const blocks: ScriptBlock[] = [
    { type: 'text', text },
    ...calls.map(
      ({ name, input }, index): ScriptBlock => ({
        type: 'call',
        id: `toolu_demo_${earlier + done.length + index + 1}`,
        name,
        input: JSON.stringify(input),
      }),
    ),
  ];
  return {
    blocks,
    stop: calls.length > 0 ? 'tool_use' : 'complete',
    usage: usageOf(request, blocks),
    model: scriptedModel,
  };
}

function nextMove(done: readonly FinishedCall[]): DemoStep {
  const runs = done.filter((call) => call.name === 'run_command');
  const lastRun = runs.at(-1);
  if (lastRun === undefined) {
    const text = 'I will look at the project and run its tests.';
    return {
      text,
      calls: [{ name: 'list_files', input: {} }, call('run_command', { command: testCommand })],
    };
  }
  const tests = readTestRun(lastRun.text);
  if (lastRun.isError || tests === undefined) {
    return {
      text: `I could not run the tests, so I changed nothing. The command said:\n\n> ${firstLine(lastRun.text)}`,
    };
  }
  const edit = done.findLast((call) => call.name === 'edit_file');
  if (edit === undefined) return tests.ok ? nothingToRepair(tests) : investigationStep(done, tests);
  if (edit.isError)
    return { text: `I could not make the change, so the test still fails: ${firstLine(edit.text)}` };
  if (done.indexOf(edit) > done.indexOf(lastRun)) {
    return {
      text: 'I will run the tests again to confirm the fix.',
      calls: [call('run_command', { command: testCommand })],
    };
  }
  const [before] = runs.map((run) => readTestRun(run.text));
  return tests.ok ? successStep(before, tests) : notAllRepaired(before, tests);
}

function investigationStep(done: readonly FinishedCall[], tests: TestRun): DemoStep {
  const [test = 'test/ticket.test.js'] = tests.files.includes('test/ticket.test.js') ? [] : tests.files;
  const source = test.replace(/^test\//, 'src/').replace('.test.', '.');
  const read = done.filter((call) => call.name === 'read_file');
  if (read.length === 0) {
    const failing = tests.failed.map((name) => `\`${name}\``).join(', ');
    return {
      text: `${tests.failed.length === 1 ? 'One test fails' : `${tests.failed.length} tests fail`}: ${failing}. I will read the test and the code that it tests.`,
      calls: [call('read_file', { path: test }), call('read_file', { path: source })],
    };
  }
  const found = read.find((file) => !file.isError && file.text.includes(bug));
  if (found === undefined) {
    return {
      text: [
        `**Not fixed.** I cannot find the cause of \`${tests.failed[0] ?? 'the failure'}\` in \`${source}\`.`,
        '',
        'This model is a script that knows only one bug, and this is a different one. A real model would keep reading.',
      ].join('\n'),
    };
  }
  return {
    text: '`total` adds the price of each job once and ignores its `count`. I will multiply the two.',
    calls: [call('edit_file', { path: String(found.input['path']), old_text: bug, new_text: repair })],
  };
}

function nothingToRepair(tests: TestRun): DemoStep {
  return {
    text: [
      `**Nothing to fix.** All ${tests.passed} tests already pass, so I changed nothing.`,
      '',
      'The bug that this demo starts with is already fixed.',
    ].join('\n'),
  };
}

function successStep(before: TestRun | undefined, now: TestRun): DemoStep {
  const total = now.passed;
  return {
    text: [
      `**Done.** All ${total} tests pass.`,
      '',
      '- **Cause:** `total` in `src/ticket.js` added the price of each job once, regardless of its `count`.',
      '- **Fix:** `total` now multiplies the price by `job.count`; nothing else changed.',
      `- **Proof:** \`${testCommand}\`, ${before?.passed ?? 0} of ${total} passed before, ${now.passed} of ${total} pass now.`,
    ].join('\n'),
  };
}

function notAllRepaired(before: TestRun | undefined, now: TestRun): DemoStep {
  const fixed = (before?.failed ?? []).filter((name) => !now.failed.includes(name));
  const left = now.failed.map((name) => `\`${name}\``).join(', ');
  const share = fixed.map((name) => `\`${name}\``).join(', ');
  return {
    text: [
      `**Partly fixed.** ${share === '' ? 'My change is in place.' : `Now passing: ${share}.`} Still failing: ${left}.`,
      '',
      'That is a second bug. This model is a script that knows only one; a real model would continue from here.',
    ].join('\n'),
  };
}

function call(
  name: string,
  input: Readonly<Record<string, unknown>>,
): NonNullable<DemoStep['calls']>[number] {
  return { name, input };
}

function doneCalls(turns: ReadRequest['turns']): FinishedCall[] {
  const parts = turns.flatMap((turn): readonly ReadPart[] => turn.parts);
  const results = new Map(
    parts.flatMap((part) => (part.type === 'result' ? [[part.id, part] as const] : [])),
  );
  return parts.flatMap((part) => {
    if (part.type !== 'call') return [];
    const result = results.get(part.id);
    if (result === undefined) return [];
    return [{ name: part.name, input: fieldsOf(part.input), text: result.text, isError: result.isError }];
  });
}

function fieldsOf(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null ? { ...input } : {};
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('[')) ?? text;
}

/** Estimates token counts from the size of the request: about four characters per token. */
function usageOf(request: ReadRequest, blocks: readonly ScriptBlock[]): ScriptAnswer['usage'] {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
  const prefix = tokens([request.system, request.tools]);
  const seen = request.turns.slice(0, -2);
  const inputTokens = prefix + tokens(request.turns);
  const cacheReadTokens = request.turns.length === 1 ? 0 : prefix + tokens(seen);
  const cacheWriteTokens = inputTokens - cacheReadTokens;
  return { inputTokens, outputTokens: tokens(blocks), cacheReadTokens, cacheWriteTokens };
}

interface TestRun {
  readonly ok: boolean;
  readonly passed: number;
  /** Names of the tests that failed, each once. */
  readonly failed: readonly string[];
  /** Files with a failing test, relative to the directory of the test run. */
  readonly files: readonly string[];
}

/** Reads the output of `node --test` without a terminal: TAP up to Node 22, `spec` later. Undefined if it is neither. */
export function readTestRun(output: string): TestRun | undefined {
  const passed = /^(?:#|ℹ) pass (\d+)$/m.exec(output)?.[1];
  const failedCount = /^(?:#|ℹ) fail (\d+)$/m.exec(output)?.[1];
  if (passed === undefined || failedCount === undefined) return undefined;
  const names = [
    ...output.matchAll(/^\s*not ok \d+ - (.+)$/gm),
    ...output.matchAll(/^\s*✖ (.+) \(\d[\d.]*ms\)$/gm),
  ].map((match) => match[1] ?? '');
  const places = [
    ...output.matchAll(/^\s*location: '(?:.*[\\/])?(test[\\/][^:']+):\d+:\d+'$/gm),
    ...output.matchAll(/^test at (.+):\d+:\d+$/gm),
  ].map((match) => (match[1] ?? '').replaceAll('\\', '/'));
  return {
    ok: Number(failedCount) === 0,
    passed: Number(passed),
    failed: [...new Set(names)],
    files: [...new Set(places)],
  };
}
