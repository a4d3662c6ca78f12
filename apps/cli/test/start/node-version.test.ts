import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkNode, oldestNode } from '../../src/start/node-version.ts';

test.each(['22.18.0', '22.19.1', '24.0.0', '26.3.0'])('accepts Node %s', (version) => {
  expect(() => checkNode(version)).not.toThrow();
});

test.each(['22.17.9', '20.19.4', '18.0.0'])('rejects Node %s and names the required version', (version) => {
  expect(() => checkNode(version)).toThrow(`this is Node ${version}, but 22.18 or later is required.`);
});

test('the minimum version matches engines.node of the package', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toBe(`>=${oldestNode}`);
});
