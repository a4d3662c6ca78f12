import { scriptedAgent } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { AcpSession } from '../../src/acp/acp-session.ts';
import { LocalHost } from '../../src/chat/local-host.ts';
import { Permission } from '../../src/permissions/permission.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('ACP: a session that is closed ends what its tools have started', async () => {
  const agent = scriptedAgent([]);
  const folder = temporaryFolder();
  const selected = { agent, pricing: () => undefined, failure: {}, note: { folder } } as never;
  let closed = 0;
  const host = new LocalHost({
    ...{ io: fakeIo({}), folder, selected, models: [], choose: async () => selected },
    ...{ tools: () => [], system: [], context: {}, limits: { turns: 1 }, allowUnpriced: true, facts: [] },
    permission: new Permission('ask', [], true),
    close: async () => {
      closed += 1;
    },
  });
  const session = new AcpSession({ host, client: {} as never, report: () => {} });
  await session.close();
  expect(closed).toBe(1);
});
