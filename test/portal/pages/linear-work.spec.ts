import { growsLinearly } from '../../support/load/metered.js';
import { meteredPortal } from '../../support/portal/metered-portal.js';
import { fixture } from '../../support/process/fixture.js';

growsLinearly('the portal', await fixture(meteredPortal()));
