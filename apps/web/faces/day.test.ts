// A day's work: forty prompts in a project of 300 files, with a scripted model, a second person in the browser, two
// restarts and one crash. With COBBLER_SCREENSHOTS=DIRECTORY it saves pictures of the terminal and the page.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { RealTerminal } from '../../cli/faces/tmux.ts';
import { atTerminal } from '../../cli/faces/tmux.ts';
import { temporaryFolder } from '../../cli/test/support/temporary-folder.ts';
import { openBrowser } from './browser.ts';
import { dayModel } from './day/model.ts';
import { writeProject } from './day/project.ts';
import { Screens } from './day/screens.ts';
import { allow, say, stands } from './visitor.ts';

const wide = { columns: 140, rows: 45 };
const narrow = { columns: 80, rows: 40 };

/** A chat in a terminal, with what a person does in it. */
class Person {
  readonly terminal: RealTerminal;
  /** The keys that answer an approval. */
  answer = 'y';

  constructor(terminal: RealTerminal) {
    this.terminal = terminal;
  }

  /** Types a line and presses Enter. */
  type(text: string): void {
    this.terminal.type(text);
    this.terminal.press('Enter');
  }

  /** Sends a prompt, answers its approvals and waits for its closing line. Returns what the terminal showed since. */
  async ask(prompt: string, options: { answer?: string; asks?: boolean } = {}): Promise<string> {
    this.type(prompt);
    return this.done(prompt, options);
  }

  /** Waits for the end of a prompt that was sent. */
  async done(prompt: string, { answer = 'y' }: { answer?: string } = {}): Promise<string> {
    let answered = 0;
    const start = prompt.slice(0, 30);
    const since = () => {
      const all = this.terminal.all();
      const at = all.lastIndexOf(`› ${start}`);
      return at < 0 ? '' : all.slice(at);
    };
    await this.terminal.until(() => {
      const text = since();
      const question = /^ {4}y (allow|approve)/m.test(this.terminal.screen());
      const now = performance.now();
      // The chat ignores a key that arrives too soon after a question appears.
      if (question && now - answered > 1500) {
        answered = now;
        setTimeout(() => this.terminal.press(answer), 700);
      }
      return !question && /^[✓■✗] ([\d.]+ m?s|[\d.]+ min|\w+)/m.test(text.replaceAll(/^ .*$/gm, ''));
    });
    return since();
  }

  /** Runs a command of the chat and waits for words in its output. */
  async command(line: string, words: string | RegExp): Promise<void> {
    this.type(line);
    await this.terminal.until((text) => {
      const since = text.slice(text.lastIndexOf(line));
      return typeof words === 'string' ? since.includes(words) : words.test(since);
    });
  }
}

test('a day of work in a project of 300 files', { timeout: 600_000 }, async () => {
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const screens = new Screens(browser);
  const cwd = join(temporaryFolder(), 'shop');
  const home = join(temporaryFolder(), 'home');
  mkdirSync(cwd);
  writeProject(cwd);
  mkdirSync(home, { mode: 0o700 });
  const price = '{ input: 3, output: 15, cacheRead: 0.3 }';
  writeFileSync(join(home, 'config.yaml'), `prices:\n  claude/claude-haiku-4-5: ${price}\n`);
  const env = { ...(await dayModel()), COBBLER_HOME: home, HOME: temporaryFolder() };
  const open = async (args: readonly string[], size: typeof wide) =>
    new Person(await atTerminal(args, { ...size, env, cwd }));
  const inFile = (path: string) => readFileSync(join(cwd, path), 'utf8');

  // Morning, in a narrow terminal.
  let me = await open(['chat'], narrow);
  await me.terminal.until('Use them?');
  await screens.terminal('trust', me.terminal, narrow);
  await pause(700);
  me.terminal.press('y');
  await me.terminal.until('describe a task');
  await me.ask('1. What is in this project?');
  await screens.terminal('overview', me.terminal, narrow);
  expect(await me.ask('2. Which tests of the prices fail?')).toMatch(/run_command[\s\S]*exit 1/);
  await me.command('/plan', /plan/);
  expect(await me.ask('3. Plan the repair')).toContain('approved');
  await screens.terminal('plan', me.terminal, narrow);
  await me.ask('4. Repair it');
  await screens.terminal('edit', me.terminal, narrow);
  expect(inFile('src/prices/prices3.js')).toContain('sum + one');
  expect(await me.ask('5. Run the tests again')).toMatch(/run_command[\s\S]*exit 0/);
  await me.command('/todo', 'Run all tests');
  await me.command('/todo add Write a changelog', 'Write a changelog');
  await me.ask('6. Write the changelog');
  const parallel = await me.ask('7. Look at four parts in parallel');
  expect(parallel.match(/✓ agent/g)).toHaveLength(4);
  await screens.terminal('agents', me.terminal, narrow);
  me.terminal.press('C-o');
  await me.terminal.until(/It adds the numbers/);
  await me.ask('8. Start the server');
  await me.command('/background bg1', 'ready on port');
  expect(await me.ask('9. Draft the release notes')).toContain('skill');
  expect(await me.ask('10. What is in @screen.png?')).toContain('gray');
  await me.command('/cost', '$');
  await me.command('/context', '%');
  await me.command('/diff', 'prices3');
  await screens.terminal('diff', me.terminal, narrow);

  // A message while the model works, another that is taken back.
  me.type('11. Tell me about it');
  await me.terminal.until('word10');
  me.type('Shorter, please.');
  await me.terminal.until('queued');
  me.terminal.press('Up');
  await me.terminal.until(/› Shorter, please\./);
  me.terminal.press('C-u');
  await me.done('11. Tell');
  await me.ask('12. Where is prices3 used?');
  await me.ask('13. Add a total');
  await me.ask('14. Rename it');
  expect(inFile('src/prices/total.js')).toContain('grandTotal');
  await me.command('/undo', /Undo/i);
  await pause(700);
  me.terminal.press('y');
  await me.terminal.until(() => inFile('src/prices/total.js').includes('const total'));
  await me.command('/redo', 'redone');
  await me.terminal.until(() => inFile('src/prices/total.js').includes('grandTotal'));
  await me.ask('15. Count slowly');
  await me.ask('16. Let the reviewer look');
  await me.command('/compact the port of the server', /token/);
  await me.ask('17. What was important?');
  await me.command('/effort high', /high/);
  await me.command('/thinking', /think/);
  await me.ask('18. What has changed?');

  // The first restart, in a wide terminal: the server of the morning is gone.
  me.terminal.press('C-d');
  await me.terminal.until('exit 0');
  expect(spawnSync('pgrep', ['-f', join(cwd, 'server.js')]).status).not.toBe(0);
  me = await open(['chat', '-c'], wide);
  await me.terminal.until('describe a task');
  await screens.terminal('continued', me.terminal, wide);
  await me.ask('19. Read a file that does not exist');
  await me.ask('20. Count to 400');
  await me.ask('21. Show the commits');
  me.type('22. Tell me more');
  await me.terminal.until('word10');
  me.type('Say it in one line.');
  expect(await me.done('22. Tell')).toContain('I heard you.');
  await me.command('/explain src/dates/dates1.js', 'It adds the numbers of a list.');
  await pause(500);

  // A crash in the middle of a command.
  me.type('24. Wait for a minute');
  await me.terminal.until(/y allow/);
  await pause(700);
  me.terminal.press('y');
  await me.terminal.until(() => existsSync(join(cwd, 'started')));
  me.terminal.crash();
  await me.terminal.until(/exit 137/);
  me = await open(['chat', '-c'], wide);
  await me.terminal.until('describe a task');
  await screens.terminal('after the crash', me.terminal, wide);
  await me.terminal.until('The last run was interrupted.');
  expect(me.terminal.screen()).toMatch(/run_command +touch started; sleep 60 +no result/);
  await me.ask('25. Are we back?');
  await me.ask('26. Run the tests of the dates');
  expect(await me.ask('27. Remove the documents', { answer: 'n' })).toContain('denied');
  expect(existsSync(join(cwd, 'docs'))).toBe(true);

  // The afternoon: a second person follows the same session in the browser, and answers.
  const server = await atTerminal(['serve', '--port', '0'], { ...wide, env, cwd });
  await server.until(/#token=/);
  const [address = ''] = /http:\S+#token=[\w-]+/.exec(server.bytes()) ?? [];
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(address);
  await page.locator('.session-row', { hasText: '1. What is in this project?' }).first().click();
  await page.locator('.prose', { hasText: 'I leave the documents alone, then.' }).first().waitFor();
  await screens.page('morning', page);
  me.type('28. Run the tests of the mail');
  await page.locator('.approval', { hasText: 'node --test test/mail' }).waitFor();
  await screens.page('approval', page);
  await allow(page);
  await me.terminal.until('All tests of the mail pass.');
  await page.locator('.prose', { hasText: 'All tests of the mail pass.' }).first().waitFor();
  await say(page, '29. Add the tax');
  await me.terminal.until(/y allow[^✓]*$/);
  await pause(700);
  me.terminal.press('y');
  await page.locator('.prose', { hasText: 'I wrote vat.' }).first().waitFor();
  expect(inFile('src/prices/vat.js')).toContain('0.2');
  await screens.terminal('answered', me.terminal, wide);
  me.type('30. Tell me the rest');
  await page.locator('.prose', { hasText: 'word30' }).first().waitFor();
  await screens.page('streaming', page);
  await me.terminal.until('word119');

  // The second person works in a session of their own, while the first one continues in the terminal.
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await screens.page('new session', page);
  await say(page, '2. Which tests of the prices fail?');
  await page.locator('.approval').waitFor();
  await allow(page);
  await stands(page, 'complete');
  await say(page, '1. What is in this project?');
  await page.locator('table').last().waitFor();
  await stands(page, 'complete');
  await screens.page('answer', page);
  for (let number = 31; number <= 40; number += 1) await me.ask(`${number}. Prompt of the evening`);
  me.terminal.press('C-d');
  await me.terminal.until('exit 0');
  server.press('C-c');
});
