import { testFaults } from './faults.ts';

testFaults('codex');
