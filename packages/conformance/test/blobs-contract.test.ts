import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBlobs } from '@cobbler/agent/context';
import { fileBlobs } from '@cobbler/agent/node';
import { afterAll, describe, it } from 'vitest';
import { describeContract } from '../src/report/describe-contract.ts';
import { blobsContract } from '../src/store/blobs-contract.ts';

const root = mkdtempSync(join(tmpdir(), 'blobs-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;

describe('blobs in memory', () => {
  describeContract(blobsContract({ name: 'memory', make: (maxBytes) => memoryBlobs({ maxBytes }) }), {
    describe,
    it,
  });
});

describe('blobs in files', () => {
  describeContract(
    blobsContract({
      name: 'files',
      make(maxBytes) {
        folders += 1;
        return fileBlobs(join(root, `${folders}`, 'not there yet'), { maxBytes });
      },
    }),
    { describe, it },
  );
});
