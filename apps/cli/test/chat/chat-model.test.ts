import { scriptedAgent } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { chatStage } from './chat-stage.ts';

test('/effort changes the effort, which the status line shows, and suggests no other words', async () => {
  const stage = await chatStage({ agent: scriptedAgent([]) });
  stage.type('/effort', '\r');
  await stage.until('effort of scripted-model: default');
  stage.type('hi', '\r');
  await stage.until('effort: high');
  expect(stage.foot(1)).toContain('scripted-model high · ask');
  stage.type('/effort huge', '\r');
  await stage.until('/effort cannot be "huge".');
  stage.type('/effort default', '\r');
  await stage.until('effort: default');
  expect(stage.foot(1)).toContain('scripted-model · ask');
});

test('thinking is one line, and /thinking shows its text without control characters', async () => {
  const agent = scriptedAgent([{ reasoning: 'First this.\nThen \x1b[2Jthat.', text: 'Hi.' }]);
  const stage = await chatStage({ agent });
  stage.type('/thinking', '\r');
  await stage.until('has shown no thinking');
  stage.type('hi', '\r');
  await stage.until(/✓ \d/);
  expect(stage.text()).toMatch(/› hi\n\n {2}thought \d+ m?s\n\nHi\./);
  expect(stage.text()).not.toContain('First this.');
  stage.type('/thinking', '\r');
  await stage.until(/\n {2}First this\.\n {2}Then \S+\[2Jthat\./);
});
