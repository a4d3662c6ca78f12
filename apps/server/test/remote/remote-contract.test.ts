import { describeContract, harnessContract } from '@cobbler/conformance';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ServerProcess } from '../support/process.ts';
import { remoteSubject } from '../support/remote-subject.ts';

const server = new ServerProcess();
beforeAll(() => server.start(), 60_000);
afterAll(() => server.dispose());

describe('a harness connected to a server process', { timeout: 120_000 }, () =>
  describeContract(harnessContract(remoteSubject(() => server)), { describe, it }),
);
