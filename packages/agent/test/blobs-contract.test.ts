import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileBlobs } from '@cobbler/agent/node';
import { afterAll, describe } from 'vitest';
import { memoryBlobs } from '../src/blobs.ts';
import { blobsContract } from '../src/testing/blobs-contract.ts';
import { contractSuite } from './contract-suite.ts';

const root = mkdtempSync(join(tmpdir(), 'blobs-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;

describe('blobs in memory', () => {
  contractSuite(blobsContract({ name: 'memory', make: (maxBytes) => memoryBlobs({ maxBytes }) }));
});

describe('blobs in files', () => {
  contractSuite(
    blobsContract({
      name: 'files',
      make(maxBytes) {
        folders += 1;
        return fileBlobs(join(root, `${folders}`, 'not there yet'), { maxBytes });
      },
    }),
  );
});
