import { AccessModule } from '@app/access';
import { BillingModule, PayModule } from '@app/billing';
import { PapersModule } from '@app/papers';
import { RowsModule } from '@app/rows';
import { Area, HttpModule } from '../../http/kit.js';
import { ADJUSTMENTS_CONTROLLERS } from './adjustments/adjustments.controller.js';
import { EXPENSES_CONTROLLERS } from './expenses/expenses.controller.js';
import { INVOICES_CONTROLLERS } from './invoices/invoices.controller.js';
import { MILEAGE_CONTROLLERS } from './mileage/mileage.controller.js';
import { PAYMENTS_CONTROLLERS } from './payments/payments.controller.js';
import { PAYOUTS_CONTROLLERS } from './payouts/payouts.controller.js';
import { RATE_BANDS_CONTROLLERS } from './rate-bands.controller.js';
import { RATE_CELLS_CONTROLLERS } from './rate-cells.controller.js';
import { TUTOR_TIERS_CONTROLLERS } from './tutor-tiers.controller.js';

/** What is paid, and to whom. */
@Area({
  imports: [HttpModule, AccessModule, BillingModule, PapersModule, PayModule, RowsModule],
  controllers: [
    ...INVOICES_CONTROLLERS,
    ...PAYMENTS_CONTROLLERS,
    ...PAYOUTS_CONTROLLERS,
    ...ADJUSTMENTS_CONTROLLERS,
    ...MILEAGE_CONTROLLERS,
    ...EXPENSES_CONTROLLERS,
    ...RATE_CELLS_CONTROLLERS,
    ...RATE_BANDS_CONTROLLERS,
    ...TUTOR_TIERS_CONTROLLERS,
  ],
  tags: {
    invoices: ['Invoices', 'What students owe: drafts, which collect what lessons cost, and issued invoices.'],
    payments: ['Payments', 'Payments by card, by bank transfer, in cash or made elsewhere.'],
    payouts: ['Payouts', 'What tutors were paid.'],
    adjustments: ['Adjustments', 'Payroll corrections: additions and deductions.'],
    mileage: ['Mileage', 'Trips that tutors claim.'],
    expenses: ['Expenses', 'Expenses that tutors claim.'],
    'rate-cells': ['Rate cells', 'What sessions cost, and what tutors get of it.'],
    'rate-bands': ['Rate bands', 'Bands of students that rates differ by.'],
    'tutor-tiers': ['Tutor tiers', 'Tiers of tutors that rates differ by.'],
  },
})
export class MoneyModule {}
