import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { provenanceProblem } from '../supply/provenance.mjs';

const root = join(import.meta.dirname, '..', '..');
const github = {
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'token',
};
const named = [{ name: 'one', repository: { url: 'git+https://example.org/one.git' } }];

describe('a release with provenance', () => {
  test('is possible where a CI service can sign, for packages with a repository', () => {
    expect(provenanceProblem(github, named)).toBeUndefined();
    expect(provenanceProblem({ GITLAB_CI: 'true', SIGSTORE_ID_TOKEN: 'token' }, named)).toBeUndefined();
    expect(provenanceProblem(github, [{ name: 'one', repository: 'example/one' }])).toBeUndefined();
  });

  test.each([
    ['on a machine without CI', {}],
    ['in GitHub Actions without the permission', { GITHUB_ACTIONS: 'true' }],
    ['with the variables of GitHub alone', { ...github, GITHUB_ACTIONS: undefined }],
    ['in GitLab CI without a token', { GITLAB_CI: 'true' }],
  ])('is refused %s', (_, env) => {
    expect(provenanceProblem(env, named)).toContain('cannot prove');
  });

  test.each([
    ['has no repository', { name: 'two' }],
    ['has an empty one', { name: 'two', repository: { url: ' ' } }],
  ])('is refused if a package %s', (_, manifest) => {
    expect(provenanceProblem(github, [...named, manifest])).toContain('package.json of two');
  });

  test('is refused by the command before anything else, and says what to do', () => {
    const env = { PATH: process.env['PATH'] };
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/release.mjs')], {
      env,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('add --no-provenance');
  });
});

test('a version of a dependency must be three days old when it is chosen', () => {
  const settings = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  expect(settings).toMatch(/^minimumReleaseAge: 4320$/m);
  expect(settings).not.toMatch(/^minimumReleaseAge(Strict: false|IgnoreMissingTime: true)/m);
});
