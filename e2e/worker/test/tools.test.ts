import { Readable } from 'node:stream';
import { auditLines, readAuditLine, verifyAudit } from '@cobbler/agent/audit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditToken, calls, people, says, Town } from '../src/town.ts';
import { bundled } from '../src/workerd.ts';

const town = new Town();
let nextPerson = 0;
let person = 0;

beforeAll(async () => {
  await town.begin({
    script: await bundled(new URL('../src/tooled-worker.ts', import.meta.url)),
    hasVectors: true,
  });
});
afterAll(() => town.end());
beforeEach(() => {
  person = people[nextPerson] ?? 0;
  nextPerson += 1;
});

/** Returns the id of the message with buttons, and the data of its buttons. */
async function question(): Promise<{ readonly id: number; readonly data: readonly string[] }> {
  await town.replies(person, 1);
  const message = town.telegram.messages(person).findLast(({ buttons }) => buttons.length > 0);
  return { id: message?.id ?? 0, data: (message?.buttons ?? []).map(({ data }) => data) };
}

async function tap({ id, data }: Awaited<ReturnType<typeof question>>, button: number): Promise<void> {
  town.telegram.tap(person, id, data[button] ?? '');
  await town.telegram.deliver();
}

describe('a turn with tools on Workflows', () => {
  it('skips a sixth call, and its reply is not empty [S3.6]', async () => {
    let asked = 0;
    town.brain = ({ toolChoice }) => {
      asked += 1;
      return toolChoice === 'none' ? says('Five will do.') : calls('look', `${person}-${asked}`);
    };
    expect(await town.ask(person, 'Look at six things.')).toBe('Five will do.');
    expect(await town.lines.list('look')).toEqual([1, 2, 3, 4, 5].map((place) => `${person}-${place}`));
  });

  it('waits for a button before a call with side effects, and a double tap counts once', async () => {
    town.brain = ({ turns }) =>
      turns.at(-1)?.parts.some(({ type }) => type === 'result')
        ? says('Noted.')
        : calls('note', `${person}-milk`);
    await town.say(person, 'Note milk.');
    const asked = await question();
    expect(await town.lines.list('note')).toEqual([]);
    await tap(asked, 0);
    await tap(asked, 0);
    expect((await town.replies(person, 2)).at(-1)).toBe('Noted.');
    await town.quiet();
    expect(await town.lines.list('note')).toEqual([`${person}-milk`]);
  });

  it('keeps waiting for a button if the engine crashes', async () => {
    town.brain = ({ turns }) =>
      turns.at(-1)?.parts.some(({ type }) => type === 'result')
        ? says('Noted.')
        : calls('note', `${person}-tea`);
    await town.say(person, 'Note tea.');
    const asked = await question();
    // Otherwise the question is sent again, because it is unknown whether it arrived.
    const sending = () => town.sql("SELECT count(*) AS open FROM outbox WHERE state = 'sending'");
    await expect.poll(sending, { timeout: 10_000 }).toEqual([{ open: 0 }]);
    await town.restart();
    await tap(asked, 0);
    expect((await town.replies(person, 2)).at(-1)).toBe('Noted.');
    await town.quiet();
    expect((await town.lines.list('note')).filter((line) => line === `${person}-tea`)).toHaveLength(1);
  });

  it('skips a denied call', async () => {
    town.brain = ({ turns }) =>
      turns.at(-1)?.parts.some(({ type }) => type === 'result')
        ? says('As you like.')
        : calls('note', `${person}-no`);
    await town.say(person, 'Note it.');
    await tap(await question(), 1);
    expect((await town.replies(person, 2)).at(-1)).toBe('As you like.');
    expect(await town.lines.list('note')).not.toContain(`${person}-no`);
  });
});

describe('the audit log of the worker', () => {
  it('has the approvals and calls of all turns, in the format of the command line, also after a crash', async () => {
    await town.quiet();
    const authorization = `Bearer ${auditToken}`;
    const response = await town.workerd.fetch('http://worker.invalid/audit', { headers: { authorization } });
    const body = await response.text();
    const report = await verifyAudit(auditLines(Readable.from([body])));
    expect(report.problem).toBeUndefined();
    expect(report.signed).toBe(report.lines);
    const records = body.split('\n').flatMap((line) => readAuditLine(line) ?? []);
    const kinds = records.filter(({ kind }) => kind === 'decision').map(({ decision }) => decision);
    expect(kinds).toEqual(['allow', 'allow', 'deny']);
    const called = records.filter(({ kind }) => kind === 'call');
    expect(new Set(called.map(({ tool }) => tool))).toEqual(new Set(['note']));
    expect(called.filter(({ status }) => status === 'done')).toHaveLength(2);
    expect(body).not.toContain('did note');
  });

  it('is not served without the token', async () => {
    expect((await town.workerd.fetch('http://worker.invalid/audit')).status).toBe(401);
  });
});

describe('memory with simulated Workers AI and Vectorize', () => {
  it('summarizes old messages, and recalls the summary when it is relevant [S3.12]', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => {
      const role = index % 2 === 0 ? 'user' : 'assistant';
      return `('m${person}-${index}', '${person}', '${role}', 'Message ${index + 1}.', '2026-11-22T09:00:00.000Z')`;
    });
    await town.sql(`INSERT INTO messages (id, chat_id, role, content, created_at) VALUES ${rows.join(', ')}`);
    town.brain = ({ system }) =>
      says(system.includes('memory of a chat assistant') ? 'The hedgehog is called Bruno.' : 'Yes.');
    await town.ask(person, 'Hello.');
    await town.quiet();
    expect(await town.sql(`SELECT text FROM memories WHERE chat_id = '${person}'`)).toEqual([
      { text: 'The hedgehog is called Bruno.' },
    ]);
    await town.ask(person, 'What about the hedgehog called what?');
    expect(town.claude.exchanges.at(-1)?.request?.system).toContain('The hedgehog is called Bruno.');
    const other = person + 1;
    await town.ask(other, 'What about the hedgehog called what?');
    expect(town.claude.exchanges.at(-1)?.request?.system).not.toContain('Bruno');
  });
});
