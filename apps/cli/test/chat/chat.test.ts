import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '@cobbler/agent';
import { exportSession, importSession } from '@cobbler/agent/format';
import { scriptedAgent } from '@cobbler/agent/testing';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSessions } from '../../src/session/session-home.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage } from './chat-stage.ts';

/** Creates a model whose responses wait until the test releases them. */
function slowModel(...answers: readonly string[]) {
  const gates = answers.map(() => Promise.withResolvers<void>());
  const agent = scriptedAgent(
    answers.map((text, index) => async () => {
      await gates[index]?.promise;
      return text;
    }),
  );
  const fail = (index: number) => gates[index]?.reject(new Error('broken'));
  return { agent, release: (index: number) => gates[index]?.resolve(), fail };
}

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

const repair = { path: 'sum.js', old_text: 'a - b', new_text: 'a + b' };
const edits = { text: 'I will repair it.', calls: [{ name: 'edit_file', arguments: repair }] };

describe('a chat', () => {
  test('prints each prompt and response once, with the footer below', async () => {
    const stage = await chatStage({ agent: scriptedAgent(['**Two** things:\n\n- one\n- two']) });
    stage.type('what is ', 'there?', '\r');
    await stage.until('✓');
    expect(stage.text()).toMatch(
      /^cobbler · scripted-model · .*\n\n› what is there\?\n\nTwo things:\n\n• one\n• two\n\n✓ /,
    );
    expect(stage.foot(2)).toMatch(/^› describe a task.*\n {2}scripted-model · ask · 150/);
  });

  test('exits on Ctrl-D or on Ctrl-C twice; with input, Ctrl-C first clears the line', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage.type('x', '\x03');
    expect(stage.foot(2)).not.toContain('again');
    stage.type('\x03');
    expect(stage.foot(1)).toContain('press Ctrl-C again to exit');
    stage.type('\x03');
    expect(await stage.left).toBe(0);
    const other = await chatStage({ agent: scriptedAgent([]) });
    other.type('\x04');
    expect(await other.left).toBe(0);
    expect(other.bytes().endsWith('\x1b[?2004l')).toBe(true);
  });

  test('uses no alternate screen or mouse, and escapes control sequences of the model [P22]', async () => {
    const evil = 'a\x1b[?1049hb\x1b]0;title\x07c\x1b]52;c;aGk=\x07d\x1b[2Je\x9b2Jf\u202eg';
    const stage = await chatStage({ agent: scriptedAgent([evil]) });
    stage.type(`\x1b[200~${evil.replaceAll('\x1b', '')}\x1b[201~`, '\r');
    await stage.until('✓');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors, cursor moves, pasting and synchronized output.
    const foreign = stage.bytes().replaceAll(/\x1b\[(\d+m|K|J|\d+[ABG]|\?(2026|2004|1004)[hl])/g, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: only line breaks are allowed.
    expect(foreign).not.toMatch(/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/);
    expect(stage.text()).toContain('\\x1b[?1049h');
  });
});

describe('during a run', () => {
  test('sends a typed message to the model at the next turn', async () => {
    const { agent, release } = slowModel('Looking.', 'Heard.');
    const stage = await chatStage({ agent });
    stage.type('go', '\r');
    await stage.until('waiting for');
    stage.type('be brief', '\r');
    await stage.until('↳ queued: be brief');
    release(0);
    release(1);
    await stage.until('✓');
    const said = agent.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
    expect(JSON.stringify(said)).toContain('be brief');
    expect(stage.text().match(/be brief/g)).toHaveLength(1);
    expect(stage.text()).toContain('\n\n↳ queued: be brief\n\nHeard.\n');
  });

  test('Up takes back the last queued message, and one that the run ends without returns to the input', async () => {
    const { agent, release, fail } = slowModel('Looking.', 'Heard.');
    const stage = await chatStage({ agent });
    stage.type('go', '\r');
    await stage.until('waiting for');
    stage.type('be brief', '\r', 'be long', '\r');
    await stage.until(/↳ queued: be brief\n↳ queued: be long/);
    stage.type('\x1b[A');
    expect(stage.foot(3)).toMatch(/↳ queued: be brief\n› be long/);
    stage.type('\x15');
    release(0);
    await stage.until(/Looking\.\n\n↳ queued: be brief/);
    stage.type('\x1b[A');
    expect(stage.foot(2)).toContain('› be long');
    stage.type('\x15', 'never mind', '\r');
    fail(1);
    await stage.until(/✗ failed[\s\S]*› never mind/);
    const said = JSON.stringify(agent.requests.at(-1)?.messages);
    expect(said).toContain('be brief');
    expect(said).not.toMatch(/be long|never mind/);
  });

  test('Ctrl-C returns queued messages to the input', async () => {
    const stage = await chatStage({ agent: slowModel('Looking.').agent });
    stage.type('go', '\r');
    await stage.until('waiting for');
    stage.type('be brief', '\r', 'be long', '\r', '\x03');
    await stage.until('■ cancelled');
    expect(stage.foot(3)).toMatch(/› be brief\n {2}be long/);
  });

  test('Ctrl-C stops the run immediately, and the next prompt works [P3]', async () => {
    const { agent, release } = slowModel('Hello.', 'Hello.');
    const stage = await chatStage({ agent });
    stage.type('go', '\r');
    await stage.until('waiting for');
    stage.type('\x03');
    await stage.until('■ cancelled');
    release(0);
    release(1);
    stage.type('and now?', '\r');
    await stage.until('Hello.');
  });

  test('Esc closes a menu and does not stop the run', async () => {
    const { agent, release } = slowModel('Hello.');
    const stage = await chatStage({ agent });
    stage.type('go', '\r');
    await stage.until('waiting for');
    stage.type('/');
    expect(stage.text()).toContain('/permissions');
    stage.type('\x1b');
    stage.ponder();
    expect(stage.text()).not.toContain('/permissions');
    stage.type('\x1b');
    stage.ponder();
    release(0);
    await stage.until('Hello.');
  });

  test('a 1,400-character response in 200 chunks takes at most 10 KB of output', async () => {
    const deaf: Agent = { ...scriptedAgent([]), run: () => new Promise(() => undefined) };
    const stage = await chatStage({ agent: deaf });
    stage.type('tell', '\r');
    await stage.until('waiting for');
    const before = stage.bytes().length;
    const words = Array.from({ length: 200 }, (_, index) => `word${String(index % 100).padStart(2, '0')} `);
    expect(words.join('')).toHaveLength(1400);
    for (const text of words) {
      stage.ear().handler.onEvent?.({ type: 'text_delta', index: 0, text });
      // Exceeds the write interval, so that each chunk is written separately.
      stage.io.clock.advance(40);
    }
    stage.ear().handler.onEvent?.({ type: 'text', index: 0, text: words.join('') });
    stage.io.clock.advance(40);
    const sent = Buffer.byteLength(stage.bytes().slice(before));
    expect(sent).toBeLessThanOrEqual(10_000);
    expect(stage.text().replaceAll(/\s+/g, ' ')).toContain(words.join('').trim());
  });
});

describe('an approval', () => {
  test('shows the diff and the exact rule, and the y key allows the call once', async () => {
    const { folder, tools, read } = project();
    const stage = await chatStage({ agent: scriptedAgent([edits, 'Done.']), folder, tools });
    stage.type('repair it', '\r');
    await stage.until('deny with a reason');
    expect(stage.text()).toMatch(
      /\? edit_file {4}sum\.js .*\+1 -1\n {6}1 - export.*a - b;\n {6}1 \+ export.*a \+ b;/,
    );
    expect(stage.foot(4)).toContain('a always edit_file(sum.js)');
    stage.ponder();
    stage.type('y');
    await stage.until('Done.');
    expect(read()).toContain('a + b');
    expect(stage.text()).toMatch(/[^\n]\n {2}✓ edit_file {4}sum\.js/);
  });

  test('ignores an early key, other typed text and a message', async () => {
    const { folder, tools, read } = project();
    const stage = await chatStage({ agent: scriptedAgent([edits, 'Well.']), folder, tools });
    stage.type('repair it', '\r');
    await stage.until('deny with a reason');
    stage.type('y');
    expect(stage.foot(2)).toContain('› y');
    stage.type('\x7f');
    stage.ponder();
    stage.type('w', 'y', 'n');
    expect(stage.foot(2)).toContain('› wyn');
    stage.type('\x15');
    stage.type('why?', '\r');
    await stage.until('↳ queued: why?');
    expect(read()).toContain('a - b');
    stage.type('e', 'no reason', '\r');
    await stage.until('Well.');
    expect(read()).toContain('a - b');
    expect(stage.text()).toContain('denied');
  });

  test('stores the exact rule for key a and the wider rule for key p, and allows later matches', async () => {
    const { folder, tools } = project();
    const home = temporaryFolder();
    const runs = (command: string) => ({ calls: [{ name: 'run_command', arguments: { command } }] });
    const script = [runs('echo one'), runs('echo one'), runs('ls'), runs('ls -1'), 'Done.'];
    const stage = await chatStage({
      agent: scriptedAgent(script),
      folder,
      tools,
      env: { COBBLER_HOME: home },
    });
    stage.type('go', '\r');
    await stage.until('a always run_command(echo one)');
    stage.ponder();
    stage.type('a');
    await stage.until('p always run_command(ls [');
    stage.ponder();
    stage.type('p');
    await stage.until('Done.');
    const file = readFileSync(join(folder, '.cobbler', 'config.yaml'), 'utf8');
    expect(file).toBe(
      'permissions:\n  allow:\n    - run_command(echo one)\n    - run_command(ls [-1 -a -l -la -al -lh])\n',
    );
    expect(statSync(join(home, 'trusted-rules.json')).mode & 0o777).toBe(0o600);
  });

  test('asks nothing about the calls of a cancelled run when its session is opened again', async () => {
    const { folder, tools } = project();
    const env = { COBBLER_HOME: temporaryFolder() };
    const sessions = await openSessions(env);
    onTestFinished(() => sessions.store.close());
    const options = { agent: scriptedAgent([edits]), folder, tools, sessions, env };
    const stage = await chatStage(options);
    stage.type('go', '\r');
    await stage.until('deny with a reason');
    stage.type('\x03');
    await stage.until('■ cancelled');
    const [session] = await stage.host.sessions();
    const again = await chatStage({ ...options, sessionId: session?.info.id ?? '' });
    await again.until('cancelled');
    expect(again.foot(3)).not.toContain('allow');
  });

  test('says that a run was interrupted, and which call has no result, when its session is opened', async () => {
    const { folder, tools } = project();
    const env = { COBBLER_HOME: temporaryFolder() };
    const sessions = await openSessions(env);
    onTestFinished(() => sessions.store.close());
    const calls = [{ name: 'run_command', arguments: { command: 'sleep 600' } }];
    const options = { agent: scriptedAgent([{ calls }]), folder, tools, sessions, env, mode: 'yes' } as const;
    const stage = await chatStage(options);
    stage.type('go', '\r');
    await stage.until(/run_command sleep 600 ·/);
    const [session] = await stage.host.sessions();
    // A copy of the log at this moment is what a crash leaves.
    await importSession(sessions.store, exportSession(sessions.store, session?.info.id ?? ''), 'left');
    stage.type('\x03');
    await stage.until('■ cancelled');
    const again = await chatStage({ ...options, sessionId: 'left' });
    await again.until('The last run was interrupted. Send a message to continue.');
    expect(again.text()).toMatch(/\? run_command {2}sleep 600 +no result/);
    await again.host.close();
  });

  test.each(['rm -r build', 'true && false', 'echo $(id)', 'git push origin', 'ls | wc'])(
    'never offers "always" for %j',
    async (command) => {
      const { folder, tools } = project();
      const script = [{ calls: [{ name: 'run_command', arguments: { command } }] }, 'Well.'];
      const stage = await chatStage({ agent: scriptedAgent(script), folder, tools });
      stage.type('go', '\r');
      await stage.until('deny with a reason');
      expect(stage.foot(5)).not.toContain('always');
      stage.ponder();
      stage.type('a', 'p');
      expect(stage.foot(5)).toContain('› ap');
      stage.type('\x03');
      await stage.until('■ cancelled');
    },
  );
});

describe('/undo', () => {
  async function repaired() {
    const { folder, tools, read } = project();
    const home = temporaryFolder();
    const sessions = await openSessions({ COBBLER_HOME: home });
    onTestFinished(() => sessions.store.close());
    const agent = scriptedAgent(['Hello.', edits, 'Done.', 'Again.']);
    const env = { COBBLER_HOME: home };
    const stage = await chatStage({ agent, folder, tools, mode: 'yes', sessions, env });
    stage.type('hello', '\r');
    await stage.until('Hello.');
    await stage.until(/✓ \d/);
    stage.type('repair it', '\r');
    await stage.until(/Done\.[\s\S]*1 file changed/);
    return { stage, folder, read, agent, home };
  }

  test('shows the changes, asks, and restores the file and the conversation', async () => {
    const { stage, read, agent } = await repaired();
    stage.type('/undo', '\r');
    await stage.until('undo this prompt and 1 file?');
    expect(stage.text()).toMatch(
      /› repair it\n {2}sum\.js will be restored, undoing \+1 -1\n {6}1 - .*a - b/,
    );
    expect(read()).toContain('a + b');
    stage.type('n');
    expect(read()).toContain('a + b');
    stage.type('/undo', '\r');
    await stage.until(/undo[\s\S]*undo[\s\S]*undo this prompt/);
    stage.type('y');
    await stage.until('undone, 1 file restored');
    expect(read()).toContain('a - b');
    stage.type('once more', '\r');
    await stage.until('Again.');
    const { messages = [] } = agent.requests.at(-1) ?? {};
    expect(JSON.stringify(messages)).not.toContain('repair it');
    expect(messages).toHaveLength(3);
  });

  test('keeps what is typed at the question as a draft, and its letters are no answer', async () => {
    const { stage, read, agent } = await repaired();
    stage.type('/undo', '\r');
    await stage.until('undo this prompt and 1 file?');
    stage.type('so you', 'y');
    expect(stage.foot(3)).toMatch(/Tab sets your draft aside\n› so youy\n/);
    stage.type('\x7f', '\t');
    expect(stage.foot(2)).toContain('› press y or n, or Tab to return to your draft');
    expect(read()).toContain('a + b');
    stage.type('n');
    expect(stage.foot(2)).toContain('› so you');
    stage.type('\x15', '/undo', '\r');
    await stage.until(/\/undo[\s\S]*\/undo[\s\S]*undo this prompt/);
    stage.type('so what?', '\r');
    await stage.until('Again.');
    stage.type('y');
    expect([read().includes('a + b'), agent.requests.length]).toEqual([true, 4]);
    expect(stage.foot(2)).toContain('› y');
  });

  test('warns when another program has changed a file since', async () => {
    const { stage, folder } = await repaired();
    writeFileSync(join(folder, 'sum.js'), 'export const sum = 1;\n');
    stage.type('/undo', '\r');
    await stage.until('changed by another program since');
  });

  test('stores the original files in a private directory', async () => {
    const { home, stage } = await repaired();
    const [name = ''] = (await stage.host.sessions()).map(({ info }) => `${info.id}.jsonl`);
    expect(existsSync(join(home, 'undo', name))).toBe(true);
    expect(
      [statSync(join(home, 'undo')), statSync(join(home, 'undo', name))].map(({ mode }) => mode & 0o777),
    ).toEqual([0o700, 0o600]);
  });
});
