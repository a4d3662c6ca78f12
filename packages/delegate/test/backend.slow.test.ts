import { testBackend } from './backends.ts';

testBackend('codex');
