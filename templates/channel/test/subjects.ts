import { systemRuntime } from '@cobbler/agent';
import type { ChannelSubject } from '@cobbler/assistant/testing';
import { yourOwnChannel } from '../src/index.ts';

/** The other end of the channel: the service as its documents describe it, in memory. */
async function service(): Promise<Response> {
  // Given: (input, init), as `fetch` is.
  throw new Error('test/subjects.ts, service: keep what is sent, and answer what the service answers.');
}

const subject: ChannelSubject = {
  name: 'your-own',
  longest: 4000,
  // What cannot happen to this channel, each with the reason, such as: markup: 'It shows plain text only.'
  lacks: {},
  async open() {
    const channel = yourOwnChannel({ token: 'a-token', runtime: { ...systemRuntime, fetch: service } });
    const unwritten = (what: string) => new Error(`test/subjects.ts, ${what}`);
    return {
      channel,
      chatId: 'a',
      seen() {
        throw unwritten('seen: give what the people in the chat see, oldest first.');
      },
      meet(fault) {
        throw unwritten(`meet: let the next request meet the fault "${fault}".`);
      },
      async pass() {
        throw unwritten('pass: let the time pass after which the channel gives up on an answer.');
      },
      sends() {
        throw unwritten('sends: count the requests by which messages are sent.');
      },
      tap() {
        throw unwritten('tap: make a tap on a button of the message, and give its id.');
      },
      expireTaps() {
        throw unwritten('expireTaps: let taps from before be too old.');
      },
      remove() {
        throw unwritten('remove: let the person take the message away.');
      },
    };
  },
};

/** What the contract is run on, here and by `npm run verify -- contract`. */
export const subjects: readonly ChannelSubject[] = [subject];
