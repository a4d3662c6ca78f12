import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../support/traced.ts', import.meta.url));
const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];

// A copy of the API silently exports nothing if the registered one has a lower minor version.
test.for(['1.9', '1.10'])(
  'an SDK registered through API version %s receives the spans of a run',
  async (version) => {
    const args = [...flags, program, version];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const expected = [
      'chat scripted-model',
      'execute_tool look',
      'chat scripted-model',
      'invoke_agent cobbler',
    ];
    expect(JSON.parse(stdout)).toEqual(expected);
  },
);

test('the application chooses the API version: a peer dependency, tested with the lowest minor version', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const name = '@opentelemetry/api';
  expect(manifest.peerDependencies).toMatchObject({ [name]: '^1.9.0' });
  expect(manifest.dependencies).not.toHaveProperty([name]);
  expect(manifest.devDependencies[name]).toMatch(/^1\.9\./);
});
