import { Area } from '../../http/kit.js';
import { AdjustmentsModule } from './adjustments/adjustments.module.js';
import { ExpensesModule } from './expenses/expenses.module.js';
import { InvoicesModule } from './invoices/invoices.module.js';
import { MileageModule } from './mileage/mileage.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { PayoutsModule } from './payouts/payouts.module.js';
import { RateBandsModule } from './rate-bands.module.js';
import { RateCellsModule } from './rate-cells.module.js';
import { TutorTiersModule } from './tutor-tiers.module.js';

const PAY = [PayoutsModule, AdjustmentsModule, MileageModule, ExpensesModule];
const RATES = [RateCellsModule, RateBandsModule, TutorTiersModule];

/** What is paid, and to whom. */
@Area({
  imports: [InvoicesModule, PaymentsModule, ...PAY, ...RATES],
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
