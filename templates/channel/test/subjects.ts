import { systemRuntime } from '@cobbler/agent';
import type { ChannelSubject } from '@cobbler/assistant/testing';
import { yourOwnChannel } from '../src/index.ts';

/** Simulates the service in memory, as its documentation describes it. */
async function service(): Promise<Response> {
  // Arguments: (input, init), as for `fetch`.
  throw new Error('test/subjects.ts, service: store what is sent, and return the responses of the service.');
}

const subject: ChannelSubject = {
  name: 'your-own',
  longest: 4000,
  // Features that the channel lacks, each with the reason, such as: markup: 'It shows plain text only.'
  lacks: {},
  async open() {
    const channel = yourOwnChannel({ token: 'a-token', runtime: { ...systemRuntime, fetch: service } });
    const unwritten = (what: string) => new Error(`test/subjects.ts, ${what}`);
    return {
      channel,
      chatId: 'a',
      seen() {
        throw unwritten('seen: return what the users in the chat see, oldest first.');
      },
      meet(fault) {
        throw unwritten(`meet: make the next request fail with "${fault}".`);
      },
      async pass() {
        throw unwritten('pass: advance the time until the channel gives up waiting for a response.');
      },
      sends() {
        throw unwritten('sends: return the number of requests that send messages.');
      },
      tap() {
        throw unwritten('tap: press a button of the message, and return the id of the press.');
      },
      expireTaps() {
        throw unwritten('expireTaps: make earlier button presses too old.');
      },
      remove() {
        throw unwritten('remove: delete the message as the user would.');
      },
    };
  },
};

/** The subjects of the contract, here and in `npm run verify -- contract`. */
export const subjects: readonly ChannelSubject[] = [subject];
