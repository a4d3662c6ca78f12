import type { Loopback } from '@cobbler/agent/testing';
import { serveLoopback } from '@cobbler/agent/testing';
import type { FakeTelegram } from '../fake-telegram.ts';

/** Serves a fake Bot API on a local port; its `url` is the `apiRoot` for a bot. Requires Node. */
export function serveTelegram(telegram: FakeTelegram): Promise<Loopback> {
  return serveLoopback(telegram.handler);
}
