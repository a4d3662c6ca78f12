import { expect, test } from 'vitest';
import { LivePage } from '../../src/chat/live-page.ts';
import { screenFor } from '../../src/terminal/screen.ts';
import { fakeIo } from '../support/fake-io.ts';
import { TinyScreen } from '../support/tiny-screen.ts';

function pageOf() {
  const io = fakeIo({ columns: 40 });
  const page = new LivePage(io.stdout, screenFor(io.stdout, io.env), io.clock);
  page.live({ lines: ['› '], cursor: { row: 0, column: 2 } });
  const text = () => {
    const screen = new TinyScreen(40);
    screen.write(io.stdout.text());
    return screen.text();
  };
  return { io, page, text };
}

test('a message that is sent while a line is written does not cut it', () => {
  const { io, page, text } = pageOf();
  page.text('One line that is');
  io.clock.advance(50);
  page.aside(['', '↳ queued: stop']);
  page.aside(['  noted']);
  expect(text()).toBe('One line that is\n›');
  page.text(' written.\nNext line');
  page.lines(['', 'a report']);
  expect(text()).toBe('One line that is written.\n\n↳ queued: stop\n  noted\n\nNext line\n\na report\n›');
});

test('what was sent is shown before the next report, at the end and after two seconds', () => {
  for (const end of ['lines', 'close', 'wait'] as const) {
    const { io, page, text } = pageOf();
    page.text('One');
    page.aside(['aside']);
    expect(text()).toBe('One\n›');
    if (end === 'lines') page.lines(['report']);
    else if (end === 'close') page.close();
    else io.clock.advance(2000);
    expect(text()).toBe(
      { lines: 'One\naside\nreport\n›', close: 'One\naside\n›', wait: 'One\naside\n\n›' }[end],
    );
    page.text('Two');
    io.clock.advance(5000);
    expect(text().split('aside')).toHaveLength(2);
  }
});

test('between two lines, it is shown at once', () => {
  const { page, text } = pageOf();
  page.aside(['aside']);
  page.text('One\n');
  page.aside(['again']);
  expect(text()).toBe('aside\nOne\nagain\n›');
});
