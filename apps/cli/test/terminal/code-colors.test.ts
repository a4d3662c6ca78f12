import { expect, test } from 'vitest';
import { CodeLines, prepareColors } from '../../src/terminal/code-colors.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { fakeClock } from '../support/fake-io.ts';

test('the colors of likely languages are prepared while no key is pressed, one by one and only once', () => {
  const clock = fakeClock();
  let [isIdle, asked] = [false, 0];
  const isQuiet = () => {
    asked += 1;
    return isIdle;
  };
  prepareColors(clock, isQuiet);
  clock.advance(2000);
  expect(asked).toBeGreaterThan(5);
  isIdle = true;
  clock.advance(5000);
  const all = asked;
  clock.advance(5000);
  expect(asked).toBe(all);
  prepareColors(clock, isQuiet);
  clock.advance(5000);
  expect(asked).toBe(all + 1);
  const style = styleFor({ color: true, unicode: true, tty: true });
  expect(CodeLines.of('ts', style)?.next('const a = 1;')[0]).toEqual({ text: 'const', kind: 'keyword' });
});

test('preparing colors ends when it is stopped', () => {
  const clock = fakeClock();
  let asked = 0;
  const stop = prepareColors(clock, () => {
    asked += 1;
    return false;
  });
  clock.advance(1000);
  const before = asked;
  stop();
  clock.advance(1000);
  expect([before > 0, asked]).toEqual([true, before]);
});
