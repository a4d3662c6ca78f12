import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proxyTools } from '../src/backend/proxy-tools.ts';

/** Returns a function that returns the reason why a user must approve a call in a new directory. */
function asker(): (name: string, given: Record<string, unknown>) => string | undefined {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'delegate-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.git'));
  symlinkSync('.git', join(folder, 'harmless'));
  symlinkSync(join('.git', 'not-yet'), join(folder, 'later'));
  const tools = proxyTools(async () => ({ content: '' }), { workingDir: folder });
  return (name, given) => tools.find((tool) => tool.name === name)?.mustAsk?.(given);
}

const key = join(homedir(), '.ssh', 'id_ed25519');
const tooLong = `${homedir()}/${'./'.repeat(2100)}.aws/credentials`;

describe('a user must approve a call of a program [P21]', () => {
  it.each([
    ['Write', { file_path: '.git/hooks/pre-commit', content: 'x' }, 'is protected'],
    ['Edit', { file_path: 'harmless/config' }, 'is protected'],
    ['NotebookEdit', { notebook_path: '.vscode/a.ipynb' }, 'is protected'],
    ['MultiEdit', { file_path: '/etc/passwd' }, 'outside the working directory'],
    ['Write', { file_path: key }, 'contains keys'],
    ['Read', { file_path: key }, 'contains keys'],
    ['Grep', { pattern: 'x', path: join(homedir(), '.aws') }, 'contains keys'],
    ['file_change', { changes: [{ path: 'a.ts' }, { path: '.envrc', kind: 'add' }] }, 'is protected'],
    ['file_change', { changes: { 'a.ts': { type: 'update', move_path: '.npmrc' } } }, 'is protected'],
    ['file_change', { changes: { '.envrc': {} } }, 'is protected'],
    ['file_change', { reason: 'because' }, 'does not name a file to write'],
    ['Read', { file_path: 'a\0b' }, 'cannot be resolved'],
    ['Write', { file_path: '' }, 'cannot be resolved'],
    ['Write', { file_path: 'later' }, 'cannot be resolved'],
    ['Read', { file_path: 'later' }, 'cannot be resolved'],
  ])('%s %j', (name, given, why) => {
    expect(asker()(name, given)).toContain(why);
  });

  it.each([
    ['Read', { file_path: '~/.ssh/id_ed25519' }, 'contains keys'],
    ['Write', { file_path: '~/.aws/credentials' }, 'contains keys'],
    ['Write', { file_path: '~/notes.txt' }, 'outside the working directory'],
    ['LS', { path: '~' }, 'contains keys'],
    ['LS', { path: '/' }, 'contains keys'],
    ['Grep', { pattern: 'x', path: homedir() }, 'contains keys'],
    ['Grep', { pattern: 'x', path: dirname(homedir()) }, 'contains keys'],
    ['Glob', { pattern: '**/credentials', path: '~/' }, 'contains keys'],
    ['Glob', { pattern: `${homedir()}/.a*/credentials` }, 'contains keys'],
    ['Glob', { pattern: '~/**' }, 'contains keys'],
    ['Glob', { pattern: '~/.ssh/*' }, 'contains keys'],
    ['Glob', { pattern: '/*' }, 'contains keys'],
    ['Glob', { pattern: '.ssh/*', path: '~' }, 'contains keys'],
    ['Glob', { pattern: 'src/*/../../../../**' }, 'can match any path'],
    ['Glob', { pattern: '{src,/root}/**' }, 'can match any path'],
  ])('%s %j, because of the path that it resolves to', (name, given, why) => {
    expect(asker()(name, given)).toContain(why);
  });

  it('whose directory contains keys itself', () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const tools = proxyTools(async () => ({ content: '' }), { workingDir: home, env: { HOME: home } });
    const mustAsk = (name: string, given: Record<string, unknown>) =>
      tools.find((tool) => tool.name === name)?.mustAsk?.(given);
    expect(mustAsk('Grep', { pattern: 'x' })).toContain('contains keys');
    expect(mustAsk('Glob', { pattern: '*' })).toContain('contains keys');
    expect(mustAsk('Grep', { pattern: 'x', path: 'src' })).toBeUndefined();
    expect(mustAsk('Read', { file_path: '~/notes.txt' })).toBeUndefined();
    expect(mustAsk('Read', { file_path: '~/.netrc' })).toContain('contains keys');
  });

  it('that reaches the home directory through ".."', () => {
    const ask = asker();
    const up = relative(realpathSync(tmpdir()), realpathSync(homedir()));
    expect(ask('Glob', { pattern: join('..', up, '*') })).toContain('contains keys');
  });

  it.each(['Read', 'Write'])('%s with a path longer than any system accepts', (name) => {
    expect(asker()(name, { file_path: tooLong })).toContain('cannot be resolved');
  });

  it.each([
    ['Write', { file_path: 'src/a.ts' }],
    ['Read', { file_path: '/etc/hosts' }],
    ['Read', { file_path: '.git/config' }],
    ['file_change', { changes: [{ path: 'a.ts' }] }],
    ['Grep', { pattern: '~/.ssh', output_mode: 'content' }],
    ['Grep', { pattern: 'x', path: '/usr/include' }],
    ['Glob', { pattern: '**/*.{ts,tsx}' }],
    ['Glob', { pattern: 'a..b/*.ts', path: 'src' }],
    ['LS', { path: '.' }],
    ['Read', { file_path: 'a~' }],
    ['Bash', { command: 'cat .git/config' }],
  ])('except %s %j', (name, given) => {
    expect(asker()(name, given)).toBeUndefined();
  });
});

describe('untrusted output of a program [P21]', () => {
  const flags = (trusted: readonly string[] = []) => {
    const tools = proxyTools(async () => ({ content: '' }), {
      workingDir: tmpdir(),
      more: ['mcp__mail__send'],
      trusted,
    });
    return (name: string) => {
      const { untrusted = false, sends = false } = tools.find((tool) => tool.name === name) ?? {};
      return { untrusted, sends };
    };
  };

  it.each([
    ['WebFetch', { untrusted: true, sends: true }],
    ['web_search', { untrusted: true, sends: true }],
    ['mcp__mail__send', { untrusted: true, sends: true }],
    ['other', { untrusted: true, sends: true }],
    ['Bash', { untrusted: false, sends: true }],
    ['Read', { untrusted: false, sends: false }],
    ['Write', { untrusted: false, sends: false }],
    ['Task', { untrusted: true, sends: false }],
    ['TodoWrite', { untrusted: false, sends: false }],
  ])('%s is %j', (name, expected) => {
    expect(flags()(name)).toEqual(expected);
    expect(flags([name])(name)).toEqual({ untrusted: false, sends: false });
  });
});
