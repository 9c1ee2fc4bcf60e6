// Package audit looks at sets before anyone trains on them: how much there is, and what in it looks wrong. [Run] reads
// every sound once and gives a [Report]: figures of each set, what sets have in common, and findings, the gravest
// first.
//
// # Sound
//
// Everything is of what training would hear: the mean of the channels, at the recording's own rate. Levels are in dB
// relative to full scale (a square wave of amplitude 1 has 0 dBFS):
//
//   - level: 20 log10 of the root mean square of the samples, their mean taken off.
//   - offset: the mean of the samples, as a share of full scale.
//   - silent frame: 10 ms whose level is 40 dB or more under that of the loudest frame of the utterance, or under
//     -65 dBFS. Leading and trailing silence are the silent frames before the first and behind the last other one. An
//     utterance without another frame is silent as a whole. One of a second or more whose frames from the 5th to the
//     95th percentile lie within 6 dB is steady: noise or a tone, and hardly speech.
//   - clipped: samples in runs of 3 or more at 32767/32768 of full scale or above, or of one and the same value at 98 %
//     of it or above (full scale of mu-law). Channels are averaged, so clipping of one of several is not seen.
//
// Two sounds are the same where rate and all samples are equal, in whatever container. They are nearly the same where
// rate and number of samples are equal and the samples have a correlation of 0.98 or more, of either sign: the same
// sound at another level, or from a lossy codec. Pairs to compare are found by the levels of eight parts and the center
// of the energy.
//
// # Text
//
// Texts are as the text policy writes them. Letters are all characters but the space. The rate of an utterance is its
// letters for each second of sound without leading and trailing silence. It is compared with utterances of about as
// many letters: groups of 200 or more in the order of the number of letters. With r = ln(rate), m the median of r in
// the group and s the larger of 0.1 and 1.4826 times the median of |r - m| (the standard deviation where r is normal),
// an utterance is an outlier where r is 5 s or more from m, and also 2 s or more, in the same direction, with m and s
// of all utterances: in sets that were cut into pieces of one length, few letters mean a low rate. Groups of less than
// 20 are not judged. A wrong text of the right length can't be found like this.
//
// # Distributions
//
// Quantiles interpolate between the two nearest values (Hyndman and Fan 1996, definition 7).
package audit
