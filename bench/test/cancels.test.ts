import { describe, expect, test } from 'vitest';
import { cancelRow, cancelTable, subjects } from '../src/cancels.ts';

describe.each(subjects)('$name', (subject) => {
  test('ten cancels at random moments give control back in time and leave nothing behind [P3]', async () => {
    const row = await cancelRow(subject, 10, 7);
    expect(row).toMatchObject({ cancels: 10, timersLeft: 0 });
    // The test runner has timers of its own, which come and go; ours are counted one by one above.
    const withoutTimers = (held: string) => held.split(', ').filter((kind) => !kind.startsWith('Timeout'));
    expect(withoutTimers(row.after)).toEqual(withoutTimers(row.before));
    // One of ten may meet this machine in a moment in which it stands still. None hangs: the drill would have thrown.
    expect(row.backMedian).toBeLessThan(250);
    expect(cancelTable([row])).toContain(subject.name);
  });
});
