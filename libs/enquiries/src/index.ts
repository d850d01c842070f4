export { LOCATIONS } from './locations.js';
export { Coverage, covers, distanceBetween, placeOf, shownDistance, teach } from './coverage.js';
export { EnquiriesModule } from './enquiries.module.js';
export { CoverageGaps } from './gaps.js';
export { type Computed, Isochrones } from './isochrones.js';
export { followingStatuses, type LeadChange, Leads, type LeadStatus, type NewLead } from './leads.js';
export { type Breakdown, DAYS, MOST, ranked, type WeekHours } from './score.js';
export { type Recommendations, type Recommended, TutorSearch } from './tutor-search.js';
