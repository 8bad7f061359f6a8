"""What any page needs: steps of a wizard, confirming, the number at the bell."""
