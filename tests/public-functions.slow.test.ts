import { describePublicFunctions } from './public-functions/describe.ts';

// public-functions.test.ts passes about one of the values at each place.
describePublicFunctions({ every: 1 });
