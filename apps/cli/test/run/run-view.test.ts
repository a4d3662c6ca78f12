import type { RunEvent } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import type { OutputPlan } from '../../src/run/output.ts';
import { createOutput } from '../../src/run/output.ts';
import type { FakeIoOptions } from '../support/fake-io.ts';
import { fakeIo } from '../support/fake-io.ts';
import { TinyScreen } from '../support/tiny-screen.ts';

const tools = [
  defineTool({
    name: 'read_file',
    description: 'Reads.',
    parameters: { type: 'object' },
    effect: 'read',
    subject: ({ path }) => String(path),
    execute: () => '',
  }),
  defineTool({
    name: 'run_command',
    description: 'Runs.',
    parameters: { type: 'object' },
    subject: ({ command }) => String(command),
    execute: () => '',
  }),
];

const head = { v: 1, seq: 1, id: 'i', time: '', runId: 'r' } as const;
const usage = { inputTokens: 100, outputTokens: 20 };
const cut = { kind: 'network', message: 'cut' } as const;

function answer(
  text: string,
  calls: readonly (readonly [name: string, args: Record<string, unknown>])[],
): RunEvent {
  return {
    ...head,
    type: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(([toolName, args], index) => ({
        type: 'tool_call' as const,
        id: `c${index}`,
        toolName,
        arguments: args,
      })),
    ],
    usage,
    stopReason: calls.length > 0 ? 'tool_use' : 'complete',
    provider: 'p',
    model: 'm',
    attempts: 1,
    wasted: { inputTokens: 0, outputTokens: 0 },
    durationMs: 1,
  };
}

function started(toolName: string, args: Record<string, unknown>, index = 0): RunEvent {
  return { ...head, type: 'tool_started', turn: 1, index, callId: `c${index}`, toolName, arguments: args };
}

function result(toolName: string, text: string, rest: object = {}, index = 0): RunEvent {
  return {
    ...head,
    type: 'tool_result',
    turn: 1,
    index,
    callId: `c${index}`,
    toolName,
    content: [{ type: 'text', text }],
    isError: false,
    durationMs: 300,
    ...rest,
  };
}

function delta(text: string, index = 0): RunEvent {
  return { type: 'text_delta', index, text };
}

function stageOf(options: FakeIoOptions = {}, plan: Partial<OutputPlan> = {}) {
  const io = fakeIo(options);
  const stage = createOutput(
    { form: 'people', verbose: false, model: 'the-model', tools, header: ['cobbler', 'the-model'], ...plan },
    io,
  );
  const show = (...events: readonly RunEvent[]) => {
    for (const event of events) stage.view.event(event);
  };
  const page = () => {
    const screen = new TinyScreen(options.columns ?? 80);
    screen.write(io.all.join(''));
    return screen.text();
  };
  return { io, stage, show, page };
}

describe('a run on a terminal', () => {
  test('streams text, and shows each call with its outcome and last output lines', () => {
    const { show, page, stage } = stageOf();
    show(
      delta('I will '),
      delta('look first.'),
      answer('I will look first.', [['run_command', { command: 'npm test' }]]),
      started('run_command', { command: 'npm test' }),
      result('run_command', '[exit 1]\none\ntwo\nthree\nfour\nfive\nsix', { summary: 'exit 1' }),
      delta('Done.'),
      answer('Done.', []),
    );
    stage.view.end(undefined);
    expect(page()).toBe(
      [
        'cobbler · the-model',
        '',
        'I will look first.',
        '',
        '  ✗ run_command  npm test                                       exit 1    0.3 s',
        '      two',
        '      three',
        '      four',
        '      five',
        '      six',
        '      + 1 line',
        '',
        'Done.',
        '',
      ].join('\n'),
    );
  });

  test('shows progress within a second', () => {
    const { io, show, page } = stageOf();
    show({ type: 'status', state: 'thinking' });
    io.clock.advance(999);
    expect(page()).toMatch(/waiting for the-model · 0 s · Ctrl-C stops$/);
    io.clock.advance(8000);
    expect(page()).toMatch(/waiting for the-model · 8 s · Ctrl-C stops$/);
    show(
      answer('', [['run_command', { command: 'sleep 9' }]]),
      started('run_command', { command: 'sleep 9' }),
    );
    io.clock.advance(999);
    expect(page()).toMatch(/run_command sleep 9 · 0 s · 120 tokens · Ctrl-C stops$/);
    show({ type: 'progress', callId: 'c0', toolName: 'run_command', text: 'halfway' });
    io.clock.advance(999);
    expect(page()).toMatch(/\n {4}halfway\n. run_command sleep 9 · 1 s · 120 tokens · Ctrl-C stops$/);
  });

  test('continues a line of text after a footer appeared below it', () => {
    const { io, show, page } = stageOf();
    show(delta('one two '));
    io.clock.advance(1500);
    expect(page()).toMatch(/\none two\n.*writing · 1 s/);
    show(delta('three four '));
    expect(page()).toMatch(/\none two three four\n?$/);
  });

  test('counts down to a retry and marks the text of the failed attempt', () => {
    const { io, show, page } = stageOf();
    const error = { kind: 'rate_limit', status: 529, message: 'Overloaded' } as const;
    const retry = { type: 'retry', attempt: 1, error, delayMs: 4000, leftMs: 295_000 } as const;
    show(delta('The answer is '), retry);
    io.clock.advance(1000);
    expect(page()).toContain('The answer is\n— cut off; retrying\n');
    expect(page()).toMatch(/529 overloaded, retry 1 in [34] s, gives up in 4 m 5[3-9] s/);
    io.clock.advance(4000);
    expect(page()).toMatch(/waiting for the-model · \d s/);
  });

  test('keeps a line about a change of the model', () => {
    const { show, page } = stageOf();
    const error = { kind: 'invalid', code: 'not_served', status: 404, message: 'No such model' } as const;
    const next = { provider: 'openai', model: 'gpt-test' };
    show({ type: 'retry', attempt: 1, error, delayMs: 0, next }, delta('Hello.'));
    expect(page()).toContain('404 model not found, switching to openai:gpt-test\n');
  });

  test('does not repeat a diff that the approval showed', () => {
    const approvals = { folder: '~', answer: () => 0, allowAlways: () => 0, offers: () => [] };
    const { show, page } = stageOf({}, { approvals });
    const diff = '@@ -1 +1 @@\n-old line\n+new line\n';
    const asked: RunEvent = {
      ...head,
      type: 'approval_requested',
      approvalId: 'a',
      turn: 1,
      index: 0,
      callId: 'c0',
      toolName: 'run_command',
      arguments: { command: 'x' },
      hash: 'h',
      subject: 'x',
      diff,
    };
    show(answer('', [['run_command', { command: 'x' }]]), asked);
    expect(page().match(/new line/g)).toHaveLength(1);
    show(result('run_command', 'y', { diff }));
    expect(page().match(/new line/g)).toHaveLength(1);
    show(answer('', [['run_command', { command: 'x' }]]), result('run_command', 'y', { diff, turn: 2 }));
    expect(page().match(/new line/g)).toHaveLength(2);
  });

  test('prints the response once after a retry [P8]', () => {
    const { io, show, stage } = stageOf({ outTty: false });
    show(delta('first try'), { type: 'retry', attempt: 1, error: cut, delayMs: 1 }, delta('second try'));
    show(answer('second try', []));
    stage.view.end(undefined);
    expect(io.stdout.text()).toBe('second try\n');
  });

  test('prints only the last attempt after a cancel [P8]', () => {
    const { io, show, stage } = stageOf({ outTty: false });
    show(delta('first try'), { type: 'retry', attempt: 1, error: cut, delayMs: 1 }, delta('second'));
    stage.view.end('cancelled');
    expect(io.stdout.text()).toBe('second\n');
  });

  test('keeps a cancelled response and marks it', () => {
    const { show, page, stage } = stageOf();
    show(delta('half an answ'));
    stage.view.stopping();
    stage.view.end('cancelled');
    expect(page()).toBe('cobbler · the-model\n\nhalf an answ\n— cancelled\n');
  });

  test('reacts to Ctrl-C immediately', () => {
    const { show, page, stage } = stageOf();
    show(delta('half '));
    stage.view.stopping();
    expect(page()).toMatch(/stopping · 0 s · Ctrl-C again exits immediately$/);
  });

  test('writes no escape sequence of the model or a tool to the terminal [P21]', () => {
    const { io, show, stage } = stageOf();
    const evil = '\x1b]0;x\x07\x1b]52;c;aGk=\x07\x1b[2J\x9b2J\u202e';
    show(
      delta(evil),
      answer(evil, [['run_command', { command: evil }]]),
      started('run_command', { command: evil }),
      { type: 'progress', callId: 'c0', toolName: 'run_command', text: evil },
    );
    io.clock.advance(1000);
    show(result('run_command', evil, { summary: evil }), {
      type: 'retry',
      attempt: 1,
      error: { kind: 'agent', message: evil },
      delayMs: 9,
    });
    io.clock.advance(1000);
    stage.view.end('cancelled');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors and cursor moves of the CLI.
    const foreign = io.all.join('').replace(/\x1b\[(\d+m|K|\d+[AG]|\?2026[hl])|\r\x1b\[K|\r(?=\x1b)/g, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches forbidden characters.
    expect(foreign).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(foreign).toContain('\\x1b]52;c;aGk=\\x07');
  });

  test('writes at most 10 KB for 1,400 characters in 200 chunks, and redraws no finished line', () => {
    const { io, show, stage } = stageOf();
    const piece = 'lorem i';
    for (let index = 0; index < 200; index += 1) {
      show(delta(index % 20 === 19 ? 'lorem \n' : piece));
      io.clock.advance(25);
    }
    show(answer('', []));
    stage.view.end(undefined);
    const bytes = io.all.join('');
    expect(Buffer.byteLength(bytes)).toBeLessThan(10_000);
    expect(bytes).not.toContain('\x1b[1A');
  });

  test('fits every line on a narrow terminal', () => {
    const { io, show, stage } = stageOf({ columns: 40 });
    show(
      delta('日本語 text that is rather long for a narrow terminal, and 👍🏽 emoji.'),
      answer('x', [['run_command', { command: 'npm run a-rather-long-name -- --with=arguments' }]]),
      started('run_command', { command: 'npm run a-rather-long-name -- --with=arguments' }),
    );
    io.clock.advance(1000);
    show(result('run_command', `[exit 0]\n${'wide 日本 '.repeat(20)}`, { summary: 'exit 0' }));
    stage.view.end(undefined);
    const screen = new TinyScreen(1000);
    screen.write(io.all.join(''));
    for (const line of screen.lines) expect(line.length, line).toBeLessThan(40);
  });

  test('shows five of 10,000 output lines and the number of the others', () => {
    const { show, page } = stageOf();
    const text = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join('\n');
    show(
      answer('', [['run_command', { command: 'seq' }]]),
      result('run_command', `[exit 0]\n${text}`, { summary: 'exit 0' }),
    );
    expect(page()).toContain('      line 9999\n      + 9995 lines');
    expect(page().split('\n').length).toBeLessThan(12);
  });
});

describe('a run without a terminal', () => {
  const nowhere: FakeIoOptions = { outTty: false, errTty: false };

  test('writes the final response to standard output, all else to standard error, without marks or colors', () => {
    const { io, show, stage } = stageOf(nowhere);
    show(
      delta('I will look.'),
      answer('I will look.', [['run_command', { command: 'npm test' }]]),
      started('run_command', { command: 'npm test' }),
      result('run_command', '[exit 0]\nfine', { summary: 'exit 0' }),
      delta('**Done.**'),
      answer('**Done.**', []),
    );
    stage.view.end(undefined);
    expect(io.stdout.text()).toBe('**Done.**\n');
    expect(io.stderr.text()).toBe(
      'cobbler · the-model\nI will look.\ntool run_command npm test ok exit 0 0.3s\n  fine\n',
    );
  });

  test('shows progress every ten seconds', () => {
    const { io, show } = stageOf(nowhere);
    show({ type: 'status', state: 'thinking' });
    io.clock.advance(10_000);
    expect(io.stderr.text()).toContain('waiting for the-model 10 s\n');
    io.clock.advance(9_999);
    expect(io.stderr.text()).not.toContain('20 s');
  });

  test('prints one line per retry', () => {
    const { io, show } = stageOf(nowhere);
    const error = { kind: 'rate_limit', status: 529, message: 'Overloaded' } as const;
    show({ type: 'retry', attempt: 2, error, delayMs: 4000 });
    show({ type: 'retry', attempt: 3, error, delayMs: 8000, leftMs: 60_000 });
    expect(io.stderr.text()).toContain('529 overloaded, retry 2 in 4.0 s\n');
    expect(io.stderr.text()).toContain('529 overloaded, retry 3 in 8.0 s, gives up in 1 m 08 s\n');
  });

  test('prints the partial text of a cancelled response', () => {
    const { io, show, stage } = stageOf(nowhere);
    show(delta('half an answ'));
    stage.view.end('cancelled');
    expect(io.stdout.text()).toBe('half an answ\n');
    expect(io.stderr.text()).toMatch(/— cancelled\n$/);
  });

  test('escapes control sequences of the model in a pipe [P21]', () => {
    const { io, show, stage } = stageOf(nowhere);
    show(delta('\x1b[2Jx'), answer('\x1b[2Jx', []));
    stage.view.end(undefined);
    expect(io.stdout.text()).toBe('\\x1b[2Jx\n');
  });
});

describe('verbose output', () => {
  test('contains thinking, arguments, full results and a cache miss', () => {
    const { show, page } = stageOf({}, { verbose: true });
    show(
      { type: 'cache_break', layer: 'system', block: 0, tokens: 4100, usd: 0.0142 },
      { type: 'cache_break', layer: 'tools', block: 0, tokens: 50, previous: { provider: 'a', model: 'b' } },
      { type: 'reasoning', index: 0, text: 'Let me think.' },
      answer('', [['run_command', { command: 'x' }]]),
      result('run_command', 'one\n\nthree', { summary: 'exit 0' }),
    );
    expect(page()).toContain('at system 0: about 4.1k tokens processed again (+$0.014)\ncache miss after b:');
    expect(page()).toMatch(/Let me think\.\n\n.*\n {6}\{"command":"x"\}\n {6}one\n\n {6}three\n/);
  });
});

describe('quiet output', () => {
  test('contains only the final response', () => {
    const { io, show, stage } = stageOf({}, { form: 'quiet' });
    show(
      delta('Looking.'),
      answer('Looking.', [['run_command', { command: 'x' }]]),
      started('run_command', { command: 'x' }),
      result('run_command', 'y'),
    );
    io.clock.advance(30_000);
    show(delta('42'), answer('42', []));
    stage.view.end(undefined);
    expect(io.all.join('')).toBe('42\n');
  });
});

describe('JSON output', () => {
  test('contains a line with the ids, then one line per stored event', () => {
    const { io, show } = stageOf({}, { form: 'json' });
    show({ type: 'started', v: 1, sessionId: 's', runId: 'r' }, delta('x'), answer('\x9bx', []));
    const lines = io.stdout.text().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['started', 'assistant']);
    for (const line of lines) expect(JSON.parse(line).v).toBe(1);
    expect(io.stdout.text()).not.toContain('\x9b');
    expect(io.stderr.text()).toBe('');
  });

  test('contains live events too with deltas', () => {
    const { io, show } = stageOf({}, { form: 'json-deltas' });
    show(delta('x'));
    expect(JSON.parse(io.stdout.text())).toEqual({ v: 1, type: 'text_delta', index: 0, text: 'x' });
  });
});
