import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { BackgroundCommands, workspaceTools } from '@cobbler/tools';
import { planTool, todosTool } from '@cobbler/tools/planning';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSessions } from '../../src/session/session-home.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage, head } from './chat-stage.ts';

/** Creates a directory with a file, and tools for it. */
function project() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'sum.js'), 'export const sum = (a, b) => a - b;\n');
  return {
    folder,
    tools: workspaceTools({ root: folder, sandbox: 'off' }),
    read: () => readFileSync(join(folder, 'sum.js'), 'utf8'),
  };
}

describe('commands', () => {
  test('complete with Tab, run with Enter and suggest the intended command', async () => {
    const stage = await chatStage({ agent: scriptedAgent(['Hi.']) });
    stage.type('/co', '\t');
    expect(stage.foot(3)).toMatch(/› \/cost$/m);
    stage.type('\x15', '/con', '\r');
    await stage.until('as reported for the last request');
    stage.type('/hlep', '\r');
    await stage.until('There is no command /hlep. Did you mean /help?');
    stage.type('/usa');
    expect(stage.foot(4)).toMatch(/› \/cost /);
    stage.type('ge', '\r');
    await stage.until('No requests yet');
  });

  test('/cost shows money, cache use, wasted tokens and a bar per turn', async () => {
    const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 750 };
    const stage = await chatStage({ agent: scriptedAgent([{ text: 'Hi.', usage }]) });
    stage.type('hi', '\r');
    await stage.until('Hi.');
    await stage.until(/✓ \d/);
    stage.type('/cost', '\r');
    await stage.until('limit');
    expect(stage.text()).toMatch(
      /cost {4}\$0\.\d+ · 1 turn\n {2}input {3}1k · 750 read from cache \(75%\) · 0 written/,
    );
    expect(stage.text()).toMatch(/wasted {2}0 in failed requests\n {2}turns {3}█/);
  });

  test('/tools has one line for each tool', async () => {
    const stage = await chatStage({
      agent: scriptedAgent([]),
      tools: [todosTool(), planTool(() => undefined)],
    });
    stage.type('/tools', '\r');
    await stage.until('present_plan');
    expect(stage.text()).toMatch(
      /\n {2}update_todos reads {4}Replaces .{0,55}\n {2}present_plan reads {4}Shows/,
    );
  });

  test('/cost counts a cancelled request', async () => {
    const wasted = { inputTokens: 40_000, outputTokens: 500 };
    const asked = Promise.withResolvers<void>();
    const agent: Agent = {
      ...scriptedAgent([]),
      run: (_request, { signal } = {}) =>
        new Promise((_, reject) => {
          asked.resolve();
          const error = new AgentError({ kind: 'aborted', message: 'Stopped.', wasted, attempts: 1 });
          signal?.addEventListener('abort', () => reject(error));
        }),
    };
    const stage = await chatStage({ agent });
    stage.type('hi', '\r');
    await asked.promise;
    stage.type('\x03');
    await stage.until('cancelled');
    stage.type('/cost', '\r');
    await stage.until('limit');
    expect(stage.text()).toMatch(/wasted {2}41k in failed requests/);
    // 40,000 tokens at $3 and 500 at $15 per million.
    expect(stage.text()).toMatch(/cost {4}\$0\.128/);
  });

  test('/undo keeps the cost of undone turns, and a fork starts with no cost', async () => {
    const sessions = await openSessions({ COBBLER_HOME: temporaryFolder() });
    onTestFinished(() => sessions.store.close());
    const usage = { inputTokens: 10_000, outputTokens: 1000 };
    const agent = scriptedAgent([
      { text: 'One.', usage },
      { text: 'Two.', usage },
    ]);
    const stage = await chatStage({ agent, sessions });
    stage.type('first', '\r');
    await stage.until(/✓ \d/);
    stage.type('second', '\r');
    await stage.until(/Two\.\n\n✓/);
    stage.type('/undo', '\r');
    await stage.until('undo this prompt?');
    expect(stage.foot(2)).toContain('› press y or n');
    stage.type('y');
    await stage.until('undone');
    stage.type('/cost', '\r');
    await stage.until(/2 turns\n {2}input {3}20k/);
    stage.type('/fork', '\r');
    await stage.until('which is unchanged');
    stage.type('/cost', '\r');
    await stage.until('No requests yet');
    const rows = await stage.host.sessions();
    expect(rows.map(({ info }) => info.inputTokens).sort()).toEqual([0, 0, 20_000]);
  });

  test('/fork continues in a copy, /resume returns to the original, /clear starts a new session', async () => {
    const sessions = await openSessions({ COBBLER_HOME: temporaryFolder() });
    onTestFinished(() => sessions.store.close());
    const stage = await chatStage({ agent: scriptedAgent(['One.', 'Two.', 'Three.']), sessions });
    stage.type('first', '\r');
    await stage.until(/✓ \d/);
    const [original] = await stage.host.sessions();
    stage.type('/fork', '\r');
    await stage.until('which is unchanged');
    stage.type('second', '\r');
    await stage.until(/Two\.\n\n✓/);
    stage.type(`/resume ${original?.info.id}`, '\r');
    await stage.until(/session \S+\n\n› first\n\nOne\.\n›/);
    stage.type('/clear', '\r');
    await stage.until(/One\.\n\n\/clear\n\ncobbler/);
    expect((await stage.host.past(original?.info.id ?? '')).length).toBe(3);
  });

  test('/save writes Markdown or events but never overwrites a file, and /copy sends the response to the terminal', async () => {
    const { folder } = project();
    const stage = await chatStage({ agent: scriptedAgent(['The *answer*.']), folder });
    stage.type('ask', '\r');
    await stage.until(/✓ \d/);
    stage.type('/save talk.md', '\r');
    await stage.until('written to talk.md');
    stage.type('/save talk.jsonl', '\r');
    await stage.until('written to talk.jsonl');
    stage.type('/export', '\r');
    await stage.until(/written to session-\w+\.md/);
    stage.type('/save sum.js', '\r');
    await stage.until('already exists');
    stage.type('/save none/talk.md', '\r');
    await stage.until(/✗ The directory [^✗]*none[^✗]*does not exist/);
    expect(readFileSync(join(folder, 'talk.md'), 'utf8')).toBe('> ask\n\nThe *answer*.\n');
    expect(readFileSync(join(folder, 'talk.jsonl'), 'utf8').split('\n')).toHaveLength(4);
    stage.type('/copy', '\r');
    await new Promise((next) => setImmediate(next));
    expect(stage.bytes()).toContain(`\x1b]52;c;${Buffer.from('The *answer*.').toString('base64')}\x07`);
  });

  test('/permissions changes the mode and shows ignored rules of the project', async () => {
    const { folder, tools } = project();
    mkdirSync(join(folder, '.cobbler'));
    writeFileSync(
      join(folder, '.cobbler', 'config.yaml'),
      'permissions:\n  allow:\n    - run_command(*)\n  deny:\n    - run_command(git push*)\n',
    );
    const stage = await chatStage({ agent: scriptedAgent([]), folder, tools });
    stage.type('/permissions edits', '\r');
    await stage.until(
      /mode {4}edits: asks before commands\n {2}deny {4}run_command\(git push\*\)\n {2}ignored run_command\(\*\)/,
    );
    expect(stage.foot(1)).toContain('· edits ·');
  });
});

describe('the input', () => {
  test('is found again with Up, Down and Ctrl-R', async () => {
    const stage = await chatStage({ agent: scriptedAgent(['1', '2']) });
    stage.type('first thing', '\r');
    await stage.until(/\n1\n\n✓/);
    stage.type('second one', '\r');
    await stage.until(/\n2\n\n✓/);
    stage.type('draft', '\x1b[A', '\x1b[A');
    expect(stage.foot(2)).toContain('› first thing');
    stage.type('\x1b[B', '\x1b[B');
    expect(stage.foot(2)).toContain('› draft');
    stage.type('\x15', '\x12', 'fir');
    expect(stage.foot(2)).toContain('search fir: first thing');
    stage.type('e');
    expect(stage.foot(2)).toContain('search fire (no match): first thing');
    stage.type('\r');
    expect(stage.foot(2)).toContain('› first thing');
  });

  test('joins the letters of Persian and the parts of an emoji, and shows other hidden characters', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    const text = 'می\u200cخواهم 👩\u200d👧 ❤\ufe0f';
    stage.type(`${text} a\u200db \u{e0041}`);
    expect(stage.bytes()).toContain(`${text} a\\u{200d}b \\u{e0041}`);
  });

  test('exits with the word exit', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage.type('exit', '\r');
    expect(await stage.left).toBe(0);
  });

  test('fits the width with several lines, wide characters and a long line', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]), columns: 40 });
    stage.type('日本語のテキスト'.repeat(4), '\x1b\r', 'two\\', '\r', 'three');
    expect(stage.foot(6)).toContain('\n  two\n  three');
    for (const line of stage.text().split('\n')) expect(line.length).toBeLessThanOrEqual(40);
  });

  test('completes file names after @ with Tab, and runs shell commands after !', async () => {
    const { folder } = project();
    const agent = scriptedAgent(['Seen.']);
    const stage = await chatStage({ agent, folder });
    stage.type('!echo from the shell; exit 3', '\r');
    await stage.until(/\n {2}exit 3/);
    stage.type('look at @su', '\t', 'please', '\r');
    await stage.until('Seen.');
    const said = JSON.stringify(agent.requests[0]?.messages[0]);
    expect(said).toContain('look at @sum.js please');
    expect(said).toContain('<attachment name=\\"sum.js\\">\\nexport const sum');
    expect(said).toContain('from the shell\\n[exit 3]');
    expect(stage.text()).toContain('› look at @sum.js please\n  [sum.js]\n  [! echo from the shell; exit 3]');
  });
});

describe('a chat with a shared session', () => {
  test('shows a lost connection and its return', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage.ear().onLost('cut');
    expect(stage.foot(1)).toContain('reconnecting…');
    stage.ear().onBack(14);
    expect(stage.foot(3)).toContain('• received 14 events');
    expect(stage.foot(1)).not.toContain('reconnecting');
  });

  test('shows the messages and responses of another client', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    const hear = (event: Parameters<NonNullable<ReturnType<typeof stage.ear>['handler']['onEvent']>>[0]) =>
      stage.ear().handler.onEvent?.(event);
    hear({ ...head(1), type: 'user', content: [{ type: 'text', text: 'from afar' }] });
    hear({ type: 'text_delta', index: 0, text: 'An answer. ' });
    stage.ponder();
    expect(stage.text()).toContain('› from afar\n\nAn answer.');
  });

  test('ignores a progress event after the end of a run', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage.ear().handler.onEvent?.({ type: 'progress', callId: 'c', toolName: 't', text: 'late' });
    stage.ponder();
    expect(stage.foot(2)).toContain('describe a task');
  });

  test('stops watching the run of another client on Ctrl-C', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage
      .ear()
      .handler.onEvent?.({ ...head(1), type: 'user', content: [{ type: 'text', text: 'from afar' }] });
    stage.ponder();
    expect(stage.text()).toContain('Ctrl-C stops');
    stage.type('\x03');
    expect(stage.foot(2)).toContain('describe a task');
  });
});

describe('planning', () => {
  /** Returns the agent and the last message of each of its requests, as JSON. */
  function listening(agent: Agent) {
    const requests: string[] = [];
    const run: Agent['run'] = (request, options) => {
      requests.push(JSON.stringify(request.messages.at(-1)));
      return agent.run(request, options);
    };
    return { watched: { ...agent, run }, requests };
  }

  test('/plan allows no change until the user approves a plan, and then returns to the mode before', async () => {
    const { folder, tools, read } = project();
    const edit = { path: 'sum.js', old_text: 'a - b', new_text: 'a + b' };
    const calling = (name: string, args: Record<string, unknown>) => ({ calls: [{ name, arguments: args }] });
    const agent = scriptedAgent([
      calling('edit_file', edit),
      calling('present_plan', { plan: '1. Add instead of subtract.\n2. Run it.' }),
      calling('edit_file', edit),
      'Done.',
      'Again.',
    ]);
    const { watched, requests } = listening(agent);
    let endPlan = () => {};
    const stage = await chatStage({
      agent: watched,
      folder,
      mode: 'edits',
      tools: [...tools, planTool(() => endPlan())],
    });
    const permission = stage.host.local?.permission;
    endPlan = () => permission?.endPlan();
    stage.type('/plan', '\r');
    await stage.until('nothing will change until you approve a plan');
    stage.type('fix it', '\r');
    await stage.until('Do you approve this plan?');
    expect(read()).toContain('a - b');
    expect(requests[0]).toContain('Plan mode: until the user approves a plan');
    expect(stage.text()).toContain('| 2. Run it.');
    expect(stage.foot(4)).not.toContain('always');
    stage.ponder();
    stage.type('y');
    await stage.until(/Done\.\n\n✓/);
    expect([read(), permission?.mode]).toEqual([expect.stringContaining('a + b'), 'edits']);
    stage.type('again', '\r');
    await stage.until(/Again\.\n\n✓/);
    expect(requests.at(-1)).toContain('The user has ended plan mode.');
  });

  test('/todo shows the list of the model, and sends what the user changes with the next message', async () => {
    const todos = [
      { text: 'Read', status: 'done' },
      { text: 'Write', status: 'active' },
    ];
    const agent = scriptedAgent([
      { calls: [{ name: 'update_todos', arguments: { todos } }] },
      'One.',
      'Two.',
    ]);
    const { watched, requests } = listening(agent);
    const stage = await chatStage({ agent: watched, tools: [todosTool()] });
    stage.type('work', '\r');
    await stage.until(/One\.\n\n✓/);
    expect(stage.text()).toMatch(/update_todos Write .* 1\/2.*\n +\[x\] Read\n +\[>\] Write/);
    stage.type('/todo done 2', '\r');
    await stage.until('the model will receive this list');
    stage.type('/todo add Test it', '\r');
    await stage.until(/3 \[ \] Test it/);
    stage.type('/todo drop 9', '\r');
    await stage.until('The list has no item "9".');
    stage.type('continue', '\r');
    await stage.until(/Two\.\n\n✓/);
    expect(requests.at(-1)).toContain('Continue with this one:\\n[x] Read\\n[x] Write\\n[ ] Test it');
    expect(stage.text()).toContain('[to-do list]');
  });
});

describe('background commands', () => {
  test('are counted in the status line, shown, stopped, and end with the chat', async () => {
    const { folder } = project();
    const commands = new BackgroundCommands();
    const calling = (command: string) => ({
      calls: [{ name: 'run_command', arguments: { command, background: true } }],
    });
    const agent = scriptedAgent([
      calling('echo "listening on 1"; echo $$ > pid; sleep 600'),
      calling('sleep 600'),
      'Up.',
    ]);
    const stage = await chatStage({
      agent,
      folder,
      mode: 'yes',
      background: commands,
      tools: workspaceTools({ root: folder, sandbox: 'off', background: commands }),
    });
    stage.type('start it', '\r');
    await stage.until(/Up\.\n\n✓/);
    expect(stage.foot(1)).toContain('2 in background');
    stage.type('/background', '\r');
    await stage.until(/bg1 {2}running .* echo "listening/);
    stage.type('/background bg1', '\r');
    await stage.until(/^ {4}listening on 1/m);
    stage.type('/background stop', '\r');
    await stage.until('2 commands are running in the background: bg1, bg2.');
    stage.type('/background stop bg2', '\r');
    await stage.until(/bg2 {2}cancelled/);
    expect(stage.foot(1)).toContain('1 in background');
    // The conversation continues in another session, and so do its commands.
    stage.type('/undo', '\r');
    await stage.until('undo this prompt?');
    stage.type('y');
    await stage.until('undone; to take this back');
    expect(stage.foot(1)).toContain('1 in background');
    stage.type('\x15/redo', '\r');
    await stage.until(/redone$/m);
    expect(stage.foot(1)).toContain('1 in background');
    stage.type('/background bg9', '\r');
    await stage.until('There is no command "bg9" in the background.');
    stage.type('/background stop', '\r');
    await stage.until(/bg1 {2}(?!running)/);
    stage.type('/background stop', '\r');
    await stage.until('No command is running in the background.');
    await stage.host.close();
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
