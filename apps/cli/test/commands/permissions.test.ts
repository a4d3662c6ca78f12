import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { permissions } from '../../src/commands/permissions.ts';
import { trustRules } from '../../src/config/project-rules.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const file = `permissions:
  allow:
    - run_command(git log [--oneline -n=])
    - run_command(npm test)
    - run_command(npm run x)
    - run_command(npm run *)
  deny:
    - run_command(curl)
`;

let folder: string;
let home: string;

beforeEach(() => {
  folder = temporaryFolder();
  home = temporaryFolder();
  mkdirSync(join(folder, '.cobbler'));
  writeFileSync(join(folder, '.cobbler', 'config.yaml'), file);
  trustRules(folder, ['run_command(git log [--oneline -n=])', 'run_command(npm test)'], {
    COBBLER_HOME: home,
  });
});

async function output(operands: readonly string[], options: Record<string, unknown> = {}): Promise<string> {
  const io = fakeIo({ env: { COBBLER_HOME: home, COBBLER_SANDBOX: 'off' } });
  await permissions(operands, { dir: folder, ...options }, io);
  return io.stdout.text();
}

test('lists the rules and why some have no effect', async () => {
  expect(await output([])).toBe(
    [
      'mode    ask: asks before edits and commands',
      'allow   run_command(git log [--oneline -n=])',
      'allow   run_command(npm test)',
      'deny    run_command(curl)',
      'ignored run_command(npm run x)  (not accepted on this machine)',
      'ignored run_command(npm run *)  (give the complete command, without *, or add a digest)',
      '',
    ].join('\n'),
  );
});

test('removes a rule from the file and from the accepted rules', async () => {
  expect(await output(['remove', 'run_command(npm test)'])).toBe('removed run_command(npm test)\n');
  expect(readFileSync(join(folder, '.cobbler', 'config.yaml'), 'utf8')).toBe(
    file.replace('    - run_command(npm test)\n', ''),
  );
  expect(readFileSync(join(home, 'trusted-rules.json'), 'utf8')).not.toContain('npm test');
  await expect(output(['remove', 'run_command(npm test)'])).rejects.toThrow('There is no allow rule');
});

test.each<[string, Record<string, unknown>, RegExp]>([
  [
    'git log --oneline -n 3',
    {},
    /^runs without asking: .*\nrule: run_command\(git log \[--oneline -n=\]\)\n$/,
  ],
  ['git log --output=x', {}, /^asks you: No rule allows it\.\n$/],
  ['npm test', { in: 'web' }, /^asks you/],
  ['npm test && curl x', {}, /^is denied: .*\nrule: run_command\(curl\)\n$/],
  [
    'echo $(id)',
    {},
    /^asks you: A deny rule exists, and this command line cannot be parsed, so it may run what the rule forbids\.\n$/,
  ],
  ['echo $(id)', { yes: true }, /^is denied/],
  ['edit_file(a.txt)', { edits: true }, /^runs without asking: The mode is edits\.\n$/],
  ['edit_file(.github/x)', { edits: true }, /^asks you: .*is protected/],
  ['edit_file(.github/x)', { edits: true, allowGuarded: ['.github'] }, /^runs without asking/],
])('tests %j with %j', async (call, options, expected) => {
  expect(await output(['test', call], options)).toMatch(expected);
});

test('tests a web page against rules and allowed hosts, also without a sandbox', async () => {
  const page = ['test', 'web_fetch(https://a.example.com/x)'];
  expect(await output(page)).toBe('asks you: No rule allows it.\n');
  expect(await output(page, { allowHost: ['*.example.com'] })).toBe(
    'runs without asking: Rules allow it.\nrule: web_fetch(*.example.com)\n',
  );
});

test('rejects an unknown action and a missing operand', async () => {
  await expect(output(['tset', 'x'])).rejects.toThrow('Did you mean');
  await expect(output(['test'])).rejects.toThrow('requires an argument');
});
