import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { permissionIn } from '../../src/config/permission-plan.ts';
import { keepRule, readProjectRules, trustRules } from '../../src/config/project-rules.ts';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const head = { v: 1, id: 'c', toolName: 'run_command', effect: 'once' } as const;

/** Creates a project with the given configuration file, and a home. */
function project(text?: string) {
  const folder = temporaryFolder();
  const env = { COBBLER_HOME: temporaryFolder() };
  mkdirSync(join(folder, '.cobbler'));
  const path = join(folder, '.cobbler', 'config.yaml');
  if (text !== undefined) writeFileSync(path, text);
  return { folder, env, path };
}

async function verdictOn(
  command: string,
  { folder, env }: ReturnType<typeof project>,
  mode: 'ask' | 'yes' | 'edits' = 'ask',
) {
  const { permission } = await permissionIn(folder, { mode, allow: [] }, true, env);
  const call = { ...head, arguments: { command }, subject: command };
  return (await permission.gate(call, { signal: AbortSignal.timeout(1000), session: 's' })).type;
}

describe("a project's configuration file", () => {
  test('can deny a call that the command line allows [P21]', async () => {
    const place = project('permissions:\n  deny:\n    - run_command(git push*)\n');
    expect(await verdictOn('git push origin', place, 'yes')).toBe('deny');
    expect(await verdictOn('git status', place, 'yes')).toBe('allow');
  });

  test('cannot allow a call that the user has not allowed on this machine [P21]', async () => {
    const place = project(
      'permissions:\n  allow:\n    - run_command(*)\n    - run_command(node --test)\n    - run_command(id)\n    - mcp__a__b(x)\n',
    );
    expect(await verdictOn('node --test', place)).toBe('ask');
    trustRules(place.folder, ['run_command(node --test)'], place.env);
    expect(await verdictOn('node --test', place)).toBe('allow');
    expect(await verdictOn('id', place)).toBe('ask');
    const { strange, outdated } = await readProjectRules(place.folder, place.env);
    expect([strange, outdated]).toEqual([['run_command(id)'], ['run_command(*)', 'mcp__a__b(x)']]);
  });

  test('can restrict the mode but never widen it [P21]', async () => {
    expect(await verdictOn('id', project('permissions:\n  mode: ask\n'), 'yes')).toBe('ask');
    expect(await verdictOn('id', project('permissions:\n  mode: read-only\n'), 'yes')).toBe('deny');
    expect(await verdictOn('id', project('permissions:\n  mode: yes\n'))).toBe('ask');
    expect(await verdictOn('id', project('permissions:\n  mode: "yes"\n'))).toBe('ask');
  });

  test('stores a rule only for this project, and keeps its other content', async () => {
    const place = project('# ours\npermissions:\n  deny:\n    - run_command(rm *) # never\n');
    await keepRule(place.folder, 'run_command(npm test)', place.env);
    await keepRule(place.folder, 'run_command(npm test)', place.env);
    expect(readFileSync(place.path, 'utf8')).toBe(
      '# ours\npermissions:\n  deny:\n    - run_command(rm *) # never\n  allow:\n    - run_command(npm test)\n',
    );
    expect(await verdictOn('npm test', place)).toBe('allow');
    // The user has not trusted the same file in another directory.
    const other = { ...project(readFileSync(place.path, 'utf8')), env: place.env };
    expect(await verdictOn('npm test', other)).toBe('ask');
  });

  test.each([
    ['permissions: [1', 'is invalid: "permissions" can contain'],
    ['permissions:\n  deny: rm\n', 'is invalid: "permissions" can contain'],
    ['permissions:\n  mode: everything\n', 'is invalid: "permissions" can contain'],
    ['permissions:\n  deny:\n    - "run_command(rm"\n', 'must have the form'],
  ])('is rejected if it is %j, because it may contain a deny rule', async (text, words) => {
    const { folder, env } = project(text);
    await expect(readProjectRules(folder, env)).rejects.toThrow(words);
  });

  test('applies to cobbler run: its rule denies a call, and the header shows the mode', async () => {
    const place = project('permissions:\n  mode: edits\n  deny:\n    - write_file(secret*)\n');
    const service = await mockService([
      says('', ['write_file', { path: 'secret.txt', content: 'x' }]),
      says('No.'),
    ]);
    const env = { ...claudeAt(service), ...place.env };
    const { code, stderr } = await cobbler(['--yes', 'go'], { env, cwd: place.folder });
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/denies commands[\s\S]*write_file secret\.txt denied/),
    ]);
  });
});
