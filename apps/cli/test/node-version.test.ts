import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkNode, oldestNode } from '../src/node-version.ts';

test.each(['22.18.0', '22.19.1', '24.0.0', '26.3.0'])('Node %s is new enough', (version) => {
  expect(() => checkNode(version)).not.toThrow();
});

test.each(['22.17.9', '20.19.4', '18.0.0'])('Node %s is told what is needed', (version) => {
  expect(() => checkNode(version)).toThrow(`this is Node ${version}, but 22.18 or later is required.`);
});

test('what is needed is what the package asks for', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toBe(`>=${oldestNode}`);
});
