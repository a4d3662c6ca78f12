import { read, withMethods } from '@cobbler/agent/input';
import type { Loopback } from '@cobbler/agent/testing';
import { serveLoopback } from '@cobbler/agent/testing';
import type { FakeTelegram } from '../fake-telegram.ts';

const hasHandler = withMethods<FakeTelegram>('handler');

/** Serves a fake Bot API on a local port; its `url` is the `apiRoot` for a bot. Requires Node. */
export async function serveTelegram(telegram: FakeTelegram): Promise<Loopback> {
  return serveLoopback(read(telegram, hasHandler, 'telegram').handler);
}
